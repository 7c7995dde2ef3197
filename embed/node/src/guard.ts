/**
 * Between a store, which may throw and answer anything, and the component.
 *
 * The generated code turns only what is thrown with a `payload` into an error of the component;
 * anything else would end the instance. So every call of a store is guarded, and what it answers
 * is checked.
 *
 * @module
 */

import { StoreError } from "./store.js";
import type { Versioned } from "./store.js";

/** Longest message of a store that is passed on. */
const MAX_MESSAGE = 1_000;

/** An error of the store, in the words of its interface. */
export type WitError =
  { tag: "no-such-store" } | { tag: "access-denied" } | { tag: "other"; val: string };

/** What the generated code takes for an error of the component. */
export interface Thrown {
  payload: unknown;
}

/** The answer of `call`; what it throws becomes an error of the component. */
export function guard<R>(call: () => R, wrap: (error: WitError) => unknown = (error) => error): R {
  try {
    return call();
  } catch (error) {
    throw { payload: wrap(witError(error)) } satisfies Thrown;
  }
}

function witError(error: unknown): WitError {
  if (error instanceof StoreError && error.code !== "other") {
    return { tag: error.code };
  }
  return { tag: "other", val: describe(error) };
}

/** Words for whatever was thrown; also for what cannot be made a text. */
function describe(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return String(text).slice(0, MAX_MESSAGE).toWellFormed();
  } catch {
    return "the store threw something that has no text";
  }
}

/** `answer` if it is one. */
export function fits<T>(
  answer: T,
  is: (answer: unknown) => boolean,
  call: string,
  wanted: string,
): T {
  if (is(answer)) {
    return answer;
  }
  const got =
    answer instanceof Promise ? "a promise; its calls must be synchronous" : typeof answer;
  throw new StoreError(`the store's ${call} must answer ${wanted}, and answered ${got}`);
}

export function isNothing(answer: unknown): boolean {
  return answer === undefined;
}

export function isBoolean(answer: unknown): boolean {
  return typeof answer === "boolean";
}

export function isCount(answer: unknown): boolean {
  return typeof answer === "bigint" && BigInt.asIntN(64, answer) === answer;
}

export function isVersioned(answer: unknown): boolean {
  if (answer === undefined) {
    return true;
  }
  const found = answer as Partial<Versioned> | null;
  return found?.value instanceof Uint8Array && typeof found.version === "bigint";
}
