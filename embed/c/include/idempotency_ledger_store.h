/*
 * The stores of a ledger, and the values that its calls take and give. `idempotency_ledger.h`
 * includes this file.
 */
#ifndef IDEMPOTENCY_LEDGER_STORE_H
#define IDEMPOTENCY_LEDGER_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IL_API __attribute__((visibility("default")))
#else
#define IL_API
#endif

/* UTF-8, not necessarily ended by a NUL. Where it may be left out, `data` is NULL then. */
typedef struct il_text {
    const char *data;
    size_t size;
} il_text;

/* Any bytes. Where they may be left out, `data` is NULL then; empty ones have some `data`. */
typedef struct il_bytes {
    const uint8_t *data;
    size_t size;
} il_bytes;

/* A number that may be left out. Zero is a number: a lease of 0 is refused. */
typedef struct il_optional_u64 {
    bool given;
    uint64_t value;
} il_optional_u64;

static inline il_text il_str(const char *text)
{
    il_text made = {text, text == NULL ? 0 : strlen(text)};
    return made;
}

static inline il_bytes il_data(const void *data, size_t size)
{
    il_bytes made = {(const uint8_t *)(data == NULL ? "" : data), size};
    return made;
}

static inline il_optional_u64 il_u64(uint64_t value)
{
    il_optional_u64 made = {true, value};
    return made;
}

/* What a call needs of its caller, if it is not IL_OK. */
typedef enum il_status {
    IL_OK,
    IL_INVALID_KEY,        /* key, scope or fingerprint outside its size; no store call was made */
    IL_INVALID_TTL,        /* lease or ttl outside its range; no store call was made */
    IL_INVALID_LIMIT,      /* `limit` outside its range; no store call was made */
    IL_PAYLOAD_TOO_LARGE,  /* over `limit_bytes`; no store call was made, the claim stays */
    IL_NO_SUCH_STORE,      /* the ledger is given no store */
    IL_ACCESS_DENIED,      /* the store denies access */
    IL_UNAVAILABLE,        /* the store failed; this call changed nothing: retry */
    IL_OUTCOME_UNKNOWN,    /* the change may have happened, now or later: do not start the work;
                              il_get and compare the token, or repeat the call */
    IL_CONTENDED,          /* others kept changing the key; retry after `retry_after_ms` */
    IL_DEADLINE_EXCEEDED,  /* the call ran for too long and recorded nothing: retry */
    IL_CORRUPT,            /* the record is unreadable, never treated as absent: ask an operator */
    IL_NOT_OPENED          /* a runtime, a store or a ledger could not be opened */
} il_status;

/* The name of a status: "invalid-key" and so on. */
IL_API const char *il_status_name(il_status status);

/* Most bytes of a message, with the NUL at its end. */
#define IL_MESSAGE_BYTES 512

/* What is to be told of a status. */
typedef struct il_failure {
    char message[IL_MESSAGE_BYTES]; /* for people; programs must not parse it */
    uint64_t limit_bytes;           /* of IL_PAYLOAD_TOO_LARGE */
    uint64_t retry_after_ms;        /* of IL_CONTENDED */
} il_failure;

/* ---- Stores ---- */

typedef struct il_store il_store;

/* A store in memory: it lives until it is closed. */
IL_API il_status il_memory_store_open(il_store **store, il_failure *failure);

/* A store in the SQLite file `path`, which is made where it is missing; its folder must exist.
   Processes of one machine may share the file, in any language; it has to lie on a local disk.
   An answered write survives a crash and a loss of power. A write that waits longer than about
   four seconds for another process fails and has changed nothing. Do not use it across `fork`.
   Needs SQLite 3.37 or later. */
IL_API il_status il_sqlite_store_open(const char *path, il_store **store, il_failure *failure);

/* Close it after all its ledgers. */
IL_API void il_store_close(il_store *store);

/* ---- A store of your own ---- */

typedef enum il_store_status {
    IL_STORE_OK,
    IL_STORE_NO_SUCH_STORE,
    IL_STORE_ACCESS_DENIED,
    IL_STORE_FAILED /* anything else; the call may have happened, or may do so within minutes */
} il_store_status;

/* What stands under a key. */
typedef struct il_found {
    bool exists;
    uint64_t version; /* grows with every write of the key and never recurs */
    uint8_t *value;   /* made by `malloc`, freed by the caller; may be NULL where `size` is 0 */
    size_t size;
} il_found;

/* What a store does. Each call takes effect at one instant between its start and its answer, for
   all callers together; reads are never stale; nothing is evicted and nothing expires. A key
   holds a value or a counter: what `increment` made is read as 8 bytes, little-endian, and
   refuses `set` and `compare_and_swap`; a value refuses `increment`. On a failure, write a
   message in UTF-8. Calls come from all threads that have a ledger over the store. */
typedef struct il_store_calls {
    il_store_status (*get)(void *self, il_text key, il_found *found, il_failure *failure);
    il_store_status (*set)(void *self, il_text key, il_bytes value, il_failure *failure);
    il_store_status (*remove)(void *self, il_text key, il_failure *failure);
    /* A counter that does not exist is made; a sum that does not fit changes nothing and fails. */
    il_store_status (*increment)(void *self, il_text key, int64_t delta, int64_t *sum,
                                 il_failure *failure);
    /* Write if the version is `*expected`, or if the key does not exist where that is NULL. */
    il_store_status (*compare_and_swap)(void *self, il_text key, const uint64_t *expected,
                                        il_bytes value, bool *swapped, il_failure *failure);
    void (*close)(void *self); /* may be NULL */
} il_store_calls;

/* `calls` must outlive the store. NULL where memory has run out. */
IL_API il_store *il_store_new(const il_store_calls *calls, void *self);

/* The calls of a store, made past the ledger: for tests, and for stores that wrap another. */
IL_API const il_store_calls *il_store_calls_of(const il_store *store, void **self);

#ifdef __cplusplus
}
#endif

#endif
