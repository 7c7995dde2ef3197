/**
 * The ledger's calls: what each takes and answers, on whatever thread.
 *
 * @module
 */

import type {
  Begin,
  BeginOptions,
  Complete,
  CompleteOptions,
  Entry,
  Forget,
  Payload,
  PurgeOptions,
  PurgeReport,
  Release,
  Renew,
  RenewOptions,
  ScopeOptions,
  StoreReport,
  Token,
} from "./types.js";

/** The calls, by name. */
export interface Calls {
  begin(key: string, options: BeginOptions): Begin;
  complete(key: string, payload: Payload, options: CompleteOptions): Complete;
  renew(key: string, token: Token, options: RenewOptions): Renew;
  release(key: string, token: Token, options: ScopeOptions): Release;
  get(key: string, options: ScopeOptions): Entry | undefined;
  purge(options: PurgeOptions): PurgeReport;
  forget(key: string, token: Token, options: ScopeOptions): Forget;
  checkStore(): StoreReport;
}

/** The name of a call. */
export type CallName = keyof Calls;

/** Where calls are served. */
export interface Backend {
  /** One call. Rejects with a `LedgerError`, and nothing else. */
  call<N extends CallName>(
    name: N,
    parameters: Parameters<Calls[N]>,
  ): Promise<ReturnType<Calls[N]>>;
  /** Ends it; calls after it are rejected. */
  close(): Promise<void>;
}
