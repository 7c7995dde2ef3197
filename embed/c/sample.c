/* Charges a card once per order: sample ORDER CENTS. A second run answers what the first did. */
#include <stdio.h>
#include <stdlib.h>

#include "idempotency_ledger.h"

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* The work. The bank can refuse a token that is lower than one it saw for this order. */
static int charge(const char *order, const char *cents, il_token token, char *receipt, size_t room)
{
    return snprintf(receipt, room, "charged %s for %s under token %llu", cents, order,
                    (unsigned long long)token);
}

static void charge_once(il_ledger *ledger, const char *order, const char *cents)
{
    il_begin_answer begun;
    if (il_begin(ledger, il_str(order), NULL, &begun) != IL_OK) {
        fail("begin", il_ledger_failure(ledger)->message);
    }
    switch (begun.kind) {
    case IL_FRESH: {
        char receipt[200];
        int size = charge(order, cents, begun.is.fresh.token, receipt, sizeof receipt);
        const il_complete_options options = {.token = il_u64(begun.is.fresh.token)};
        il_complete_answer completed;
        if (il_complete(ledger, il_str(order), il_data(receipt, (size_t)size), &options,
                        &completed) != IL_OK) {
            fail("complete", il_ledger_failure(ledger)->message);
        }
        if (completed.kind != IL_RECORDED) {
            fail("complete", "the claim was lost meanwhile");
        }
        printf("%s\n", receipt);
        break;
    }
    case IL_DONE:
        printf("replayed: %.*s\n", (int)begun.is.done.payload.size,
               (const char *)begun.is.done.payload.data);
        break;
    case IL_INFLIGHT:
        printf("try again in %llu ms\n", (unsigned long long)begun.is.inflight.retry_after_ms);
        break;
    case IL_MISMATCH:
        printf("the key belongs to another request\n");
        break;
    }
}

int main(int size, char **words)
{
    if (size != 3) {
        fail("usage", "sample ORDER CENTS");
    }
    il_failure failure;
    il_runtime *runtime;
    il_store *store;
    il_ledger *ledger;
    if (il_runtime_open(&runtime, &failure) != IL_OK ||
        il_sqlite_store_open("ledger.db", &store, &failure) != IL_OK ||
        il_ledger_open(runtime, store, NULL, &ledger, &failure) != IL_OK) {
        fail("open", failure.message);
    }
    charge_once(ledger, words[1], words[2]);
    il_ledger_close(ledger);
    il_store_close(store);
    il_runtime_close(runtime);
    return 0;
}
