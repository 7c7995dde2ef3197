/**
 * What the calls take and answer.
 *
 * Fields named `...AtMs` are milliseconds since the Unix epoch on the ledger's clock: compare
 * them with each other, not with another clock. Durations are milliseconds.
 *
 * @module
 */

/**
 * Fencing token of one claim. It grows with every claim of a key, so a resource that remembers
 * the greatest token it saw can refuse late workers. Compare tokens of the same key only.
 *
 * It may exceed 2^53, hence a bigint: `String(token)` for JSON.
 */
export type Token = bigint;

/** A whole number: milliseconds, or a count. */
export type Whole = number | bigint;

/** The right, and the duty, to do the work. */
export interface Claim {
  /** For `complete`, `renew` and `release`, and for whatever the work calls. */
  token: Token;
  /** When another caller may claim the key, unless the claim is renewed before. */
  expiresAtMs: number;
  /**
   * 1 for the first claim. Above 1: an earlier holder failed or vanished, and its work may have
   * happened; ask downstream before repeating what cannot be undone.
   */
  attempt: number;
}

/** Somebody else's claim, seen from outside. */
export interface Lease {
  /** When the claim ends by itself. */
  expiresAtMs: number;
  /** Wait this long before the next `begin`; at least 1. */
  retryAfterMs: number;
}

/** What was recorded, byte for byte. */
export interface Outcome {
  /** `undefined`, no bytes, and the bytes of `null` are three different outcomes. */
  payload: Uint8Array | undefined;
  /** Token of the claim that was completed: yours means that you recorded it. */
  token: Token;
  /** When it was recorded. */
  completedAtMs: number;
  /** From here on `begin` is `fresh` again. */
  expiresAtMs: number;
}

/** The key is yours: do the work, then `complete`. */
export interface Fresh extends Claim {
  state: "fresh";
}

/** Somebody holds the key, or is about to: back off. */
export interface Inflight extends Lease {
  state: "inflight";
}

/** It was done before; this is its outcome. Do not do the work. */
export interface Done extends Outcome {
  state: "done";
}

/** The key is in use for a request with another fingerprint: a caller's mistake. */
export interface Mismatch {
  state: "mismatch";
}

/** Answer of `begin`. */
export type Begin = Fresh | Inflight | Done | Mismatch;

/**
 * Why a holder's call changed nothing. Ordinary endings, not errors.
 *
 * - `missing`: no such claim: never made, released, or purged.
 * - `expired`: the lease ended before the call; nobody has claimed the key since.
 * - `superseded`: the key has a claim with another token.
 * - `already-done`: an outcome is recorded and stays; `get` shows it and whose it is.
 */
export type LostReason = "missing" | "expired" | "superseded" | "already-done";

/** Nothing changed. */
export interface Lost {
  state: "lost";
  /** Why. */
  reason: LostReason;
}

/** The outcome stands: every `begin` and `get` answers with it until `expiresAtMs`. */
export interface Recorded {
  state: "recorded";
  /** The token that it carries: the claim's, or for an upsert without one a new one. */
  token: Token;
  /** When it was recorded. */
  completedAtMs: number;
  /** From here on `begin` is `fresh` again. */
  expiresAtMs: number;
}

/** Answer of `complete`. Of two racing calls one is answered `already-done`. */
export type Complete = Recorded | Lost;

/** The claim lives on, until the time that it now shows. */
export interface Renewed extends Claim {
  state: "renewed";
}

/** Answer of `renew`. `lost` is for good: stop the work, or at least its effects. */
export type Renew = Renewed | Lost;

/** The next `begin` is `fresh` at once. */
export interface Released {
  state: "released";
}

/** Answer of `release`. An outcome stays. */
export type Release = Released | Lost;

/** A key's record as it stands. */
export interface Entry {
  /** A claim, or an outcome. */
  state: "inflight" | "done";
  /** Of an outcome, as in {@link Outcome}; `undefined` for a claim. */
  payload: Uint8Array | undefined;
  /** Token of the claim. */
  token: Token;
  /** Which try of the work the claim is. */
  attempt: number;
  /** Of the request, where `begin` was given one. */
  fingerprint: Uint8Array | undefined;
  /** When the claim was made. */
  claimedAtMs: number;
  /** When the outcome was recorded. */
  completedAtMs: number | undefined;
  /** When the claim or the outcome stops counting. */
  expiresAtMs: number;
  /** Whether it has: then it stands only until a `begin` or a `purge`. */
  expired: boolean;
}

/** Options of every call on a key. */
export interface ScopeOptions {
  /** 1 to 256 bytes; `global` when not given. Scopes never see each other. */
  scope?: string | undefined;
}

/** Options of `begin`. */
export interface BeginOptions extends ScopeOptions {
  /** How long the claim lives unless renewed: 1 to 2 592 000 000 (30 days), default 60 000. */
  leaseMs?: Whole | undefined;
  /** 1 to 64 bytes that identify the request, a hash of its body say. */
  fingerprint?: Uint8Array | undefined;
}

/** Options of `complete`. */
export interface CompleteOptions extends ScopeOptions {
  /** Token of your claim. Give it: without one, a late worker can complete a successor's claim. */
  token?: Token | undefined;
  /** How long the outcome replays: 1 to 315 360 000 000 (10 years), default 86 400 000 (24 h). */
  ttlMs?: Whole | undefined;
  /** Record also where the claim is missing or expired and nobody holds the key. */
  upsertOnMissing?: boolean | undefined;
}

/** Options of `renew`. */
export interface RenewOptions extends ScopeOptions {
  /** New lease from now; range and default as for `begin`. Never shortens it. */
  leaseMs?: Whole | undefined;
}

/** What `complete` takes: bytes, or a text for its UTF-8; none is an outcome of its own. */
export type Payload = Uint8Array | string | undefined;

/** Options of `purge`. */
export interface PurgeOptions {
  /** Remove what expired before this; later than now means now. Default now. */
  beforeMs?: Whole | undefined;
  /** Most keys to remove, and most removed keys to reclaim: 1 to 10 000, default 200. */
  limit?: number | undefined;
}

/** Answer of `purge`. */
export interface PurgeReport {
  /** Expired keys removed by this call, of all scopes. */
  removed: number;
  /** Keys removed an hour or more ago whose last traces are now deleted too. */
  reclaimed: number;
  /** Something is left that is due: call again. */
  more: boolean;
}

/** Answer of `forget`. */
export type Forget =
  { state: "forgotten" } | { state: "missing" } | { state: "superseded" } | Inflight;

/** What a check found: `unsound` says what the store did instead, for people. */
export type Finding =
  { state: "sound" } | { state: "unsound"; message: string } | { state: "untested" };

/** Answer of `checkStore`. */
export interface StoreReport {
  /** How this build decides who won. */
  strategy: "cas" | "ticket";
  /** Everything the ledger relies on was found sound. `false`: do not use the store. */
  sound: boolean;
  readYourWrites: Finding;
  increment: Finding;
  swapAbsent: Finding;
  swapPresent: Finding;
  swapAnswer: Finding;
  /** The clock as the ledger reads it. */
  nowMs: number;
}

/** Options of `run`. */
export interface RunOptions extends BeginOptions {
  /** How long the outcome replays, as for `complete`. */
  ttlMs?: Whole | undefined;
  /** How long to wait for somebody else who holds the key; not at all when not given. */
  waitMs?: number | undefined;
}

/** The claim that `run` hands to the work. */
export interface RunningClaim extends Claim {
  /**
   * Aborted when the claim is lost while the work runs: stop, or at least cause no further
   * effects. Its `reason` is a `ClaimLostError`.
   */
  signal: AbortSignal;
}

/** How a `run` ended. */
export type Run =
  /** The work ran now, and this outcome is recorded. */
  | ({ state: "ran" } & Outcome)
  /** It was done before; this was recorded then. The work did not run. */
  | ({ state: "replayed" } & Outcome)
  /** Somebody else holds the key, still so after the wait. The work did not run. */
  | Inflight
  /** The key is in use for a request with another fingerprint. The work did not run. */
  | Mismatch;
