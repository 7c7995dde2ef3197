// What users write in TypeScript; compiled, not run. Each `@ts-expect-error` is a mistake that the
// types must find.

import {
  ContendedError,
  Idempotency,
  Ledger,
  LedgerError,
  MemoryStore,
  SqliteStore,
} from "idempotency-ledger";
import type { Begin, Claim, Page, Run, Store, Token, Versioned } from "idempotency-ledger";

interface Receipt {
  receipt: string;
  cents: number;
}

const ledger = new Ledger({ store: new SqliteStore("ledger.db"), threads: 2 });

export async function answers(): Promise<string> {
  const begun: Begin = await ledger.begin("k", { leaseMs: 60_000, scope: undefined });
  switch (begun.state) {
    case "fresh": {
      const claim: Claim = begun;
      const token: Token = claim.token;
      const completed = await ledger.complete("k", new Uint8Array(1), { token, ttlMs: 1n });
      return completed.state === "lost" ? completed.reason : String(completed.completedAtMs);
    }
    case "inflight":
      return String(begun.retryAfterMs.toFixed());
    case "done":
      return begun.payload === undefined ? "none" : String(begun.payload.byteLength);
    case "mismatch":
      // @ts-expect-error A mismatch has no payload.
      return begun.payload;
  }
}

export async function runs(): Promise<Run> {
  // @ts-expect-error A token is a bigint.
  await ledger.renew("k", 7);
  // @ts-expect-error A key is a string.
  await ledger.begin(7);
  // @ts-expect-error The option is leaseMs.
  await ledger.begin("k", { lease: 7 });
  // @ts-expect-error A payload is bytes or a text.
  await ledger.run("k", () => ({ receipt: 7 }));
  return ledger.run("k", async ({ token, signal, attempt }) => {
    signal.throwIfAborted();
    return `${token} ${attempt}`;
  });
}

export async function typed(): Promise<Receipt | undefined> {
  const parse = (value: unknown): Receipt => value as Receipt;
  const charges = new Idempotency(ledger, { resultValidator: parse });
  const begun = await charges.begin("k");
  if (begun.state === "done") {
    return begun.result;
  }
  // @ts-expect-error The validator says what a result is.
  await charges.complete("k", { receipt: 7 });
  const ended = await charges.run("k", () => ({ receipt: "r", cents: 1 }));
  return ended.state === "ran" ? ended.result : undefined;
}

export function errors(error: unknown): number {
  if (error instanceof ContendedError) {
    return error.retryAfterMs;
  }
  return error instanceof LedgerError ? error.code.length : 0;
}

/** A store of one's own. */
export class Logged implements Store {
  readonly #inner = new MemoryStore();

  get(key: string): Versioned | undefined {
    return this.#inner.get(key);
  }

  set(key: string, value: Uint8Array): void {
    this.#inner.set(key, value);
  }

  delete(key: string): void {
    this.#inner.delete(key);
  }

  increment(key: string, delta: bigint): bigint {
    return this.#inner.increment(key, delta);
  }

  compareAndSwap(key: string, expected: bigint | undefined, value: Uint8Array): boolean {
    return this.#inner.compareAndSwap(key, expected, value);
  }

  list(cursor?: string): Page {
    return this.#inner.list(cursor);
  }
}

export const logged = new Ledger({ store: new Logged() });
