/* What the tests share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "idempotency_ledger.h"

/* Ends the program with a message unless `holds`. */
#define CHECK(holds, ...)                                                                         \
    do {                                                                                          \
        if (!(holds)) {                                                                           \
            fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #holds);                           \
            fprintf(stderr, __VA_ARGS__);                                                         \
            fputc('\n', stderr);                                                                  \
            exit(1);                                                                              \
        }                                                                                         \
    } while (0)

static inline il_runtime *open_runtime(void)
{
    il_runtime *runtime;
    il_failure failure;
    CHECK(il_runtime_open(&runtime, &failure) == IL_OK, "%s", failure.message);
    return runtime;
}

static inline il_store *open_memory(void)
{
    il_store *store;
    il_failure failure;
    CHECK(il_memory_store_open(&store, &failure) == IL_OK, "%s", failure.message);
    return store;
}

static inline il_ledger *open_ledger(il_runtime *runtime, il_store *store)
{
    il_ledger *ledger;
    il_failure failure;
    CHECK(il_ledger_open(runtime, store, NULL, &ledger, &failure) == IL_OK, "%s",
          failure.message);
    return ledger;
}

#endif
