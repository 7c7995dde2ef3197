/* A runner of the conformance vectors, `host-tests/vectors/README.md` has their format. */
#ifndef VECTORS_H
#define VECTORS_H

#include <json-c/json.h>

#include "idempotency_ledger.h"

/* Says what is wrong with a vector, and ends the program. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A text that a vector writes out or abbreviates; bytes too. Freed with `free`. */
typedef struct text {
    char *data;
    size_t size;
} text;
text read_text(json_object *spec);
text read_payload(json_object *spec); /* `{"text": ..}`, `{"hex": ..}` or `{"repeat": ..}` */
text read_hex(const char *hex, size_t size);

/* What the names of tokens stand for: each gets its value where it is first met. */
#define MAX_TOKENS 16
typedef struct tokens {
    const char *names[MAX_TOKENS];
    uint64_t values[MAX_TOKENS];
    int size;
} tokens;
uint64_t token_value(const tokens *tokens, json_object *spec);

/* Whether `got` is what is expected. Tokens keep what they got where it is not: try on a copy. */
bool fits(tokens *tokens, json_object *expected, json_object *got);

/* A ledger's surroundings. */
typedef struct scene {
    il_runtime *runtime;
    il_store *store;
    il_clock clock;
    il_ledger *ledger;
} scene;

/* A call with its arguments resolved. */
typedef struct call {
    const char *name;
    text key, scope, payload, fingerprint; /* `data` is NULL where they are not given */
    il_optional_u64 lease_ms, ttl_ms, before_ms, limit, token;
    bool upsert_on_missing;
} call;
call read_call(json_object *step, const tokens *tokens);
void free_call(call *call);

/* Makes the call and answers in the words of the WIT. */
json_object *make_call(il_ledger *ledger, const call *call);

#define MAX_KEYS 64
/* The greatest token so far of each scope and key: a claim's is greater. */
typedef struct greatest {
    struct {
        json_object *scope, *key;
        uint64_t token;
    } seen[MAX_KEYS];
    int size;
} greatest;
void check_token(greatest *greatest, json_object *step, json_object *got);

/* Makes several calls at once, each in a thread and with a ledger of its own. */
void run_parallel(const scene *scene, json_object *step, tokens *tokens, greatest *greatest);

/* For messages. */
const char *shown(json_object *value);

#endif
