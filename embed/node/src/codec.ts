/**
 * Between results and the bytes that are recorded: JSON, and the validator at both edges.
 *
 * @module
 */

import { ResultRefusedError, ResultUnfitError } from "./errors.js";

/** Narrows what was recorded to a result, or throws: the `parse` of a zod schema, say. */
export type ResultParser<T> = (value: unknown) => T;

/** A result that is fit to be recorded. */
export interface Encoded<T> {
  /** Its JSON; `undefined` for the result `undefined`. */
  payload: Uint8Array | undefined;
  /** The result as every replay will have it. */
  result: T | undefined;
}

/**
 * The result's JSON, read back, so that nothing is recorded that no one could read. Refused is
 * what JSON would change in silence: NaN, infinities, functions, maps.
 */
export function encode<T>(value: T | undefined, parse: ResultParser<T>): Encoded<T> {
  if (value === undefined) {
    return { payload: undefined, result: undefined };
  }
  try {
    const json = JSON.stringify(parse(value), (_name, part: unknown) => lossless(part));
    const result = parse(JSON.parse(json));
    return { payload: new TextEncoder().encode(json), result };
  } catch (error) {
    throw new ResultRefusedError(`the result cannot be recorded: ${error}`, { cause: error });
  }
}

function lossless(part: unknown): unknown {
  if (typeof part === "number" && !Number.isFinite(part)) {
    throw new TypeError(`JSON has no ${part}`);
  }
  if (typeof part === "function" || typeof part === "symbol") {
    throw new TypeError(`JSON has no ${typeof part}`);
  }
  if (part instanceof Map || part instanceof Set) {
    throw new TypeError("JSON has no maps and sets");
  }
  return part;
}

/** The result that was recorded. */
export function decode<T>(payload: Uint8Array | undefined, parse: ResultParser<T>): T | undefined {
  if (payload === undefined) {
    return undefined;
  }
  try {
    const json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    checkNumbers(json);
    return parse(JSON.parse(json));
  } catch (error) {
    throw new ResultUnfitError(payload, error);
  }
}

/** Another runtime may have recorded numbers that `JSON.parse` would round in silence. */
function checkNumbers(json: string): void {
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)) {
    if (!token.startsWith('"') && !fitsNumber(token)) {
      throw new RangeError(`a JavaScript number cannot hold ${token.slice(0, 40)}`);
    }
  }
}

function fitsNumber(token: string): boolean {
  const number = Number(token);
  if (Number.isSafeInteger(number) || !/^-?\d+$/.test(token)) {
    return Number.isFinite(number);
  }
  // Beyond 2^53 JavaScript itself writes numbers with zeros in place of their last digits.
  return Number.isFinite(number) && (String(number) === token || BigInt(token) === BigInt(number));
}
