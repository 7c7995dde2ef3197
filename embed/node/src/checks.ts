/**
 * Arguments as the component takes them, or a typed error before any call. The generated code
 * would wrap numbers around, and copy texts and bytes of any size into the component's memory.
 *
 * @module
 */

import {
  InvalidArgumentError,
  InvalidKeyError,
  InvalidLimitError,
  InvalidTtlError,
} from "./errors.js";
import type { LedgerError } from "./errors.js";
import type { Payload, Token, Whole } from "./types.js";

/** Limits of the ledger. The component checks them too; here they bound what is handed to it. */
const MAX_KEY_BYTES = 1_024;
const MAX_SCOPE_BYTES = 256;
const MAX_FINGERPRINT_BYTES = 64;
const MAX_PAYLOAD_BYTES = 524_288;
const MAX_LIMIT = 10_000;

const MAX_U64 = 2n ** 64n - 1n;

/** A key. */
export function checkKey(key: unknown): string {
  return checkText(key, "the key", MAX_KEY_BYTES);
}

/** A scope, or none. */
export function checkScope(scope: unknown): string | undefined {
  return scope === undefined ? undefined : checkText(scope, "the scope", MAX_SCOPE_BYTES);
}

/**
 * A text that may fit: the component counts its bytes. Halves of surrogate pairs have no UTF-8:
 * they would all become the same letter, and different keys one.
 */
function checkText(text: unknown, what: string, maxBytes: number): string {
  if (typeof text !== "string") {
    throw new InvalidKeyError(`${what} must be a string, not ${kindOf(text)}`);
  }
  // A letter has at least as many bytes as units of UTF-16.
  if (text.length > maxBytes) {
    throw new InvalidKeyError(`${what} may have at most ${maxBytes} bytes`);
  }
  if (!text.isWellFormed()) {
    throw new InvalidKeyError(`${what} is no well-formed text: it holds half of a surrogate pair`);
  }
  return text;
}

/** A fingerprint, or none. */
export function checkFingerprint(fingerprint: unknown): Uint8Array | undefined {
  if (fingerprint === undefined) {
    return undefined;
  }
  if (!(fingerprint instanceof Uint8Array)) {
    throw new InvalidKeyError(`the fingerprint must be bytes, not ${kindOf(fingerprint)}`);
  }
  if (fingerprint.byteLength > MAX_FINGERPRINT_BYTES) {
    throw new InvalidKeyError(`the fingerprint may have at most ${MAX_FINGERPRINT_BYTES} bytes`);
  }
  return fingerprint;
}

/** A duration, or none. */
export function checkDuration(duration: unknown, what: string): bigint | undefined {
  const fail = (why: string) => new InvalidTtlError(`${what} ${why}`);
  return duration === undefined ? undefined : checkWhole(duration, fail);
}

/** A time, or none. */
export function checkTime(time: unknown, what: string): bigint | undefined {
  const fail = (why: string) => new InvalidArgumentError(`${what} ${why}`);
  return time === undefined ? undefined : checkWhole(time, fail);
}

/** A token. */
export function checkToken(token: unknown): Token {
  if (typeof token !== "bigint" || token < 0n || token > MAX_U64) {
    const got = typeof token === "bigint" ? String(token) : kindOf(token);
    throw new InvalidArgumentError(`the token must be the bigint of a claim, not ${got}`);
  }
  return token;
}

/** A limit, or none. */
export function checkLimit(limit: unknown): number | undefined {
  if (limit === undefined || (Number.isInteger(limit) && isWithin(limit as number))) {
    return limit as number | undefined;
  }
  throw new InvalidLimitError(`the limit must be a whole number from 1 to ${MAX_LIMIT}`);
}

function isWithin(limit: number): boolean {
  return limit >= 1 && limit <= MAX_LIMIT;
}

const encoder = new TextEncoder();

/** The bytes of a payload, or none. */
export function checkPayload(payload: Payload): Uint8Array | undefined {
  if (payload === undefined) {
    return undefined;
  }
  if (typeof payload !== "string" && !((payload as unknown) instanceof Uint8Array)) {
    const got = kindOf(payload);
    throw new InvalidArgumentError(`the payload must be bytes, a string or undefined, not ${got}`);
  }
  // A letter has at least as many bytes as units of UTF-16.
  if (payload.length > MAX_PAYLOAD_BYTES) {
    return OVERSIZED;
  }
  if (typeof payload !== "string") {
    return payload;
  }
  if (!payload.isWellFormed()) {
    throw new InvalidArgumentError("the payload is no well-formed text: record its bytes");
  }
  const bytes = encoder.encode(payload);
  return bytes.length > MAX_PAYLOAD_BYTES ? OVERSIZED : bytes;
}

/** In place of any payload over the limit: the component looks at the size, and refuses it. */
const OVERSIZED = new Uint8Array(MAX_PAYLOAD_BYTES + 1);

/** Options, if they are an object: a number in their place would be no options at all. */
export function checkOptions<O extends object>(options: O): O {
  if (typeof options !== "object" || options === null) {
    throw new InvalidArgumentError(`options must be an object, not ${kindOf(options)}`);
  }
  return options;
}

function checkWhole(number: unknown, fail: (why: string) => LedgerError): bigint {
  if (typeof number !== "bigint" && !Number.isInteger(number)) {
    const got = typeof number === "number" ? String(number) : kindOf(number);
    throw fail(`must be a whole number of milliseconds, not ${got}`);
  }
  const whole = BigInt(number as Whole);
  if (whole < 0n || whole > MAX_U64) {
    throw fail(`must not be ${whole < 0n ? "negative" : "so large"}`);
  }
  return whole;
}

function kindOf(value: unknown): string {
  return value === null ? "null" : typeof value;
}
