/*
 * Record the outcome of each idempotency key once.
 *
 * `il_begin`; if the answer is fresh, do the work and `il_complete`; long work calls `il_renew`,
 * failed work `il_release`. At most one outcome is recorded per key while it lives. The work
 * itself can run again after a crash: pass the token or the key downstream.
 *
 * Fields named `..._at_ms` are milliseconds since the Unix epoch on the ledger's clock. "Expired"
 * means `expires_at_ms <= now`.
 *
 * Threads: an il_runtime and an il_store may be used by any number of threads at once. An
 * il_ledger serves one thread at a time; make one per thread, over the same store.
 */
#ifndef IDEMPOTENCY_LEDGER_H
#define IDEMPOTENCY_LEDGER_H

#include "idempotency_ledger_store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What has to be opened first ---- */

/* The compiled component. One per process is enough. */
typedef struct il_runtime il_runtime;

/* Compiles the component that this library carries, in some hundred milliseconds. `failure` may
   be NULL, here and in every function that takes it. */
IL_API il_status il_runtime_open(il_runtime **runtime, il_failure *failure);

/* The same for another build of the ledger; `ledger-ticket` for one. */
IL_API il_status il_runtime_open_component(il_bytes component, il_runtime **runtime,
                                           il_failure *failure);

/* Close it after all its ledgers. NULL is fine, for every function that closes. */
IL_API void il_runtime_close(il_runtime *runtime);

typedef struct il_ledger il_ledger;

/* Where the time comes from; the system's clock where `now_ms` is NULL. */
typedef struct il_clock {
    uint64_t (*now_ms)(void *self); /* milliseconds since the Unix epoch; must not block */
    void *self;
} il_clock;

/* A ledger over `store`; both it and `runtime` must outlive it. Takes less than a
   millisecond and some 40 KB. `clock` may be NULL. */
IL_API il_status il_ledger_open(il_runtime *runtime, il_store *store, const il_clock *clock,
                                il_ledger **ledger, il_failure *failure);

IL_API void il_ledger_close(il_ledger *ledger);

/* Why the last call of this ledger was not IL_OK. Stays until the next one. */
IL_API const il_failure *il_ledger_failure(const il_ledger *ledger);

/* ---- The calls ---- */

/* A key has 1 to 1 024 bytes, a scope 1 to 256; a scope that is left out is `global`. What an
   answer points to stays until the next call of the same ledger. `options` may be NULL. */

/* Fencing token of a claim: grows with every claim of a key. Compare those of one key only. */
typedef uint64_t il_token;

typedef struct il_claim {
    il_token token;
    uint64_t expires_at_ms; /* from here on another caller may claim the key */
    uint32_t attempt;       /* above 1: an earlier holder's work may have happened */
} il_claim;

typedef struct il_lease {
    uint64_t expires_at_ms;
    uint64_t retry_after_ms; /* at least 1 */
} il_lease;

typedef struct il_outcome {
    il_bytes payload; /* NULL where none was recorded */
    il_token token;
    uint64_t completed_at_ms;
    uint64_t expires_at_ms;
} il_outcome;

/* Why a holder's call changed nothing. */
typedef enum il_lost_reason {
    IL_LOST_MISSING,     /* never claimed, released, or purged */
    IL_LOST_EXPIRED,     /* the lease ended before the call */
    IL_LOST_SUPERSEDED,  /* the key has a claim with another token */
    IL_LOST_ALREADY_DONE /* an outcome is recorded and stays */
} il_lost_reason;

typedef struct il_begin_options {
    il_text scope;
    il_optional_u64 lease_ms; /* 1 to 2 592 000 000 (30 days); 60 000 */
    il_bytes fingerprint;     /* 1 to 64 bytes that identify the request */
} il_begin_options;

typedef struct il_begin_answer {
    enum { IL_FRESH, IL_INFLIGHT, IL_DONE, IL_MISMATCH } kind;
    union {
        il_claim fresh;    /* the key is yours: do the work, then complete */
        il_lease inflight; /* somebody holds the key: back off */
        il_outcome done;   /* it was done before: do not do the work */
    } is;
} il_begin_answer;

/* Claim a key. While a claim lives nobody else is answered IL_FRESH. */
IL_API il_status il_begin(il_ledger *ledger, il_text key, const il_begin_options *options,
                          il_begin_answer *answer);

typedef struct il_complete_options {
    il_text scope;
    il_optional_u64 token;  /* give it: without one, a late worker can complete another's claim */
    il_optional_u64 ttl_ms; /* 1 to 315 360 000 000 (10 years); 86 400 000 (24 h) */
    bool upsert_on_missing; /* record also where the claim is missing or expired */
} il_complete_options;

typedef struct il_recorded {
    il_token token;
    uint64_t completed_at_ms;
    uint64_t expires_at_ms;
} il_recorded;

typedef struct il_complete_answer {
    enum { IL_RECORDED, IL_COMPLETE_LOST } kind;
    union {
        il_recorded recorded;
        il_lost_reason lost;
    } is;
} il_complete_answer;

/* Record the outcome: at most 524 288 bytes, or none. Safe to repeat. */
IL_API il_status il_complete(il_ledger *ledger, il_text key, il_bytes payload,
                             const il_complete_options *options, il_complete_answer *answer);

typedef struct il_renew_options {
    il_text scope;
    il_optional_u64 lease_ms; /* as for il_begin; never shortens the lease */
} il_renew_options;

typedef struct il_renew_answer {
    enum { IL_RENEWED, IL_RENEW_LOST } kind;
    union {
        il_claim renewed;
        il_lost_reason lost; /* for good: stop the work */
    } is;
} il_renew_answer;

/* Extend a live claim, at a third of its lease say. */
IL_API il_status il_renew(il_ledger *ledger, il_text key, il_token token,
                          const il_renew_options *options, il_renew_answer *answer);

typedef struct il_release_answer {
    enum { IL_RELEASED, IL_RELEASE_LOST } kind;
    il_lost_reason lost;
} il_release_answer;

/* Give a live claim back without an outcome. */
IL_API il_status il_release(il_ledger *ledger, il_text key, il_token token, il_text scope,
                            il_release_answer *answer);

typedef struct il_entry {
    bool exists; /* false: never claimed, released, or purged; the rest is zero then */
    bool done;   /* false: a claim */
    bool expired;
    uint32_t attempt;
    il_bytes payload;     /* of an outcome; NULL where none was recorded */
    il_bytes fingerprint; /* NULL where none was given */
    il_token token;
    uint64_t claimed_at_ms;
    il_optional_u64 completed_at_ms;
    uint64_t expires_at_ms;
} il_entry;

/* Look without claiming. */
IL_API il_status il_get(il_ledger *ledger, il_text key, il_text scope, il_entry *answer);

/* ---- For operators ---- */

typedef struct il_purge_options {
    il_optional_u64 before_ms; /* later than now means now; now */
    il_optional_u64 limit;     /* 1 to 10 000; 200 */
} il_purge_options;

typedef struct il_purge_report {
    uint32_t removed;
    uint32_t reclaimed;
    bool more; /* something is left that is due: call again */
} il_purge_report;

/* Remove expired keys, oldest first. Run it daily at least. */
IL_API il_status il_purge(il_ledger *ledger, const il_purge_options *options,
                          il_purge_report *answer);

typedef struct il_forget_answer {
    enum { IL_FORGOTTEN, IL_FORGET_MISSING, IL_FORGET_SUPERSEDED, IL_FORGET_INFLIGHT } kind;
    il_lease inflight;
} il_forget_answer;

/* Remove an outcome or an expired claim before its time; `token` is the one that il_get showed. */
IL_API il_status il_forget(il_ledger *ledger, il_text key, il_token token, il_text scope,
                           il_forget_answer *answer);

typedef enum il_finding { IL_SOUND, IL_UNSOUND, IL_UNTESTED } il_finding;

typedef struct il_store_report {
    enum { IL_CAS, IL_TICKET } strategy;
    bool sound; /* everything that this build relies on was found sound */
    il_finding read_your_writes;
    il_finding increment;
    il_finding swap_absent;
    il_finding swap_present;
    il_finding swap_answer;
    uint64_t now_ms;
} il_store_report;

/* Try what the ledger needs of the store, on keys of its own. */
IL_API il_status il_check_store(il_ledger *ledger, il_store_report *answer);

#ifdef __cplusplus
}
#endif

#endif
