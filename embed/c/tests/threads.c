/* threads [FILE]: eight threads begin the same keys, each with a ledger of its own over one store,
   in memory and in the SQLite file. One claim and one outcome each. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

#define THREADS 8
#define KEYS 100

static atomic_int claims[KEYS], outcomes[KEYS];

typedef struct worker {
    pthread_t thread;
    il_ledger *ledger;
} worker;

static void *work(void *self)
{
    worker *worker = self;
    for (int at = 0; at < KEYS; at++) {
        char key[20];
        snprintf(key, sizeof key, "key %d", at);
        il_begin_answer begun;
        il_status status = il_begin(worker->ledger, il_str(key), NULL, &begun);
        CHECK(status == IL_OK || status == IL_CONTENDED, "%s: %s", key,
              il_ledger_failure(worker->ledger)->message);
        if (status != IL_OK || begun.kind != IL_FRESH) {
            continue;
        }
        claims[at]++;
        const il_complete_options options = {.token = il_u64(begun.is.fresh.token)};
        il_complete_answer completed;
        status = il_complete(worker->ledger, il_str(key), il_data("done", 4), &options, &completed);
        CHECK(status == IL_OK, "%s: %s", key, il_ledger_failure(worker->ledger)->message);
        outcomes[at] += completed.kind == IL_RECORDED;
    }
    return NULL;
}

static void share(il_runtime *runtime, il_store *store, const char *name)
{
    worker workers[THREADS];
    for (int at = 0; at < KEYS; at++) {
        claims[at] = outcomes[at] = 0;
    }
    for (int at = 0; at < THREADS; at++) {
        workers[at].ledger = open_ledger(runtime, store);
        CHECK(pthread_create(&workers[at].thread, NULL, work, &workers[at]) == 0, "a thread");
    }
    for (int at = 0; at < THREADS; at++) {
        pthread_join(workers[at].thread, NULL);
        il_ledger_close(workers[at].ledger);
    }
    for (int at = 0; at < KEYS; at++) {
        CHECK(claims[at] == 1 && outcomes[at] == 1, "%s, key %d: %d claims, %d outcomes", name, at,
              claims[at], outcomes[at]);
    }
    il_store_close(store);
    printf("%s: %d threads, %d keys: one claim and one outcome each\n", name, THREADS, KEYS);
}

int main(int size, char **words)
{
    il_runtime *runtime = open_runtime();
    share(runtime, open_memory(), "memory");
    if (size > 1) {
        il_store *store;
        il_failure failure;
        CHECK(il_sqlite_store_open(words[1], &store, &failure) == IL_OK, "%s", failure.message);
        share(runtime, store, "SQLite");
    }
    il_runtime_close(runtime);
    return 0;
}
