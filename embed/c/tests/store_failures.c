/* A store that fails in each of its calls, in each way: the caller gets a typed error, nothing is
   claimed by mistake, and the ledger works again as soon as the store does. */
#include "check.h"

enum { GET, SET, REMOVE, INCREMENT, SWAP, CALLS };
static const char *const CALL_NAMES[CALLS] = {"get", "set", "remove", "increment", "swap"};

/* Wraps a store; the `at`-th call of a kind fails with a status. */
typedef struct faulty {
    const il_store_calls *calls;
    void *self;
    int kind;
    long at, seen;
    il_store_status status;
    const char *message;
} faulty;

static bool fails(faulty *store, int kind, il_failure *failure)
{
    if (kind != store->kind || store->seen++ != store->at) {
        return false;
    }
    snprintf(failure->message, IL_MESSAGE_BYTES, "%s", store->message);
    return true;
}

static il_store_status get(void *self, il_text key, il_found *found, il_failure *failure)
{
    faulty *store = self;
    return fails(store, GET, failure) ? store->status
                                      : store->calls->get(store->self, key, found, failure);
}

static il_store_status set(void *self, il_text key, il_bytes value, il_failure *failure)
{
    faulty *store = self;
    return fails(store, SET, failure) ? store->status
                                      : store->calls->set(store->self, key, value, failure);
}

static il_store_status delete_key(void *self, il_text key, il_failure *failure)
{
    faulty *store = self;
    return fails(store, REMOVE, failure) ? store->status
                                         : store->calls->remove(store->self, key, failure);
}

static il_store_status increment(void *self, il_text key, int64_t delta, int64_t *sum,
                                 il_failure *failure)
{
    faulty *store = self;
    return fails(store, INCREMENT, failure)
               ? store->status
               : store->calls->increment(store->self, key, delta, sum, failure);
}

static il_store_status swap(void *self, il_text key, const uint64_t *expected, il_bytes value,
                            bool *swapped, il_failure *failure)
{
    faulty *store = self;
    return fails(store, SWAP, failure)
               ? store->status
               : store->calls->compare_and_swap(store->self, key, expected, value, swapped,
                                                failure);
}

static const il_store_calls FAULTY = {get, set, delete_key, increment, swap, NULL};

static bool is_store_error(il_status status)
{
    return status == IL_NO_SUCH_STORE || status == IL_ACCESS_DENIED || status == IL_UNAVAILABLE ||
           status == IL_OUTCOME_UNKNOWN;
}

/* A key's life, with a purge of one that has expired. Answers the first status that is none of
   IL_OK; `*reached` is how many calls of the failing kind there were. */
static il_status live(il_ledger *ledger, const char *name)
{
    const il_begin_options short_lease = {.lease_ms = il_u64(1)};
    il_begin_answer begun;
    il_status status = il_begin(ledger, il_str("expires"), &short_lease, &begun);
    if (status == IL_OK) {
        status = il_begin(ledger, il_str(name), NULL, &begun);
    }
    if (status != IL_OK) {
        CHECK(begun.kind == IL_MISMATCH, "an answer beside the error %s", il_status_name(status));
        return status;
    }
    CHECK(begun.kind == IL_FRESH, "%s is not fresh", name);
    const il_complete_options options = {.token = il_u64(begun.is.fresh.token),
                                         .ttl_ms = il_u64(1000)};
    il_complete_answer completed;
    status = il_complete(ledger, il_str(name), il_data("x", 1), &options, &completed);
    il_entry entry;
    if (status == IL_OK) {
        CHECK(completed.kind == IL_RECORDED, "%s is not recorded", name);
        status = il_get(ledger, il_str(name), il_str(NULL), &entry);
    }
    il_purge_report report;
    return status == IL_OK ? il_purge(ledger, NULL, &report) : status;
}

static uint64_t next_ms = 1000000;

/* Stands still within a key's life, and goes on by two hours between two. */
static uint64_t now_ms(void *self)
{
    (void)self;
    return next_ms;
}

/* Whether the fault was reached. */
static bool run(il_runtime *runtime, int kind, long at, il_store_status fault, const char *message)
{
    il_store *memory = open_memory();
    faulty faulty = {.kind = -1, .status = fault, .message = message, .at = at};
    faulty.calls = il_store_calls_of(memory, &faulty.self);
    il_store *store = il_store_new(&FAULTY, &faulty);
    const il_clock clock = {now_ms, NULL};
    il_ledger *ledger;
    CHECK(il_ledger_open(runtime, store, &clock, &ledger, NULL) == IL_OK, "no ledger");
    CHECK(live(ledger, "before") == IL_OK, "%s", il_ledger_failure(ledger)->message);
    next_ms += 2 * 3600 * 1000;
    faulty.kind = kind;
    il_status status = live(ledger, "during");
    bool reached = faulty.seen > at;
    faulty.kind = -1;
    next_ms += 2 * 3600 * 1000; /* a purge that failed leaves its lease */
    CHECK(reached ? is_store_error(status) : status == IL_OK, "%s %ld: %s", CALL_NAMES[kind], at,
          il_status_name(status));
    if (reached && fault == IL_STORE_FAILED) {
        const char *said = il_ledger_failure(ledger)->message;
        CHECK(il_status_name(status) != NULL && said[0] != '\0', "no message");
    }
    /* A purge that failed leaves its lease. */
    next_ms += 2 * 3600 * 1000;
    CHECK(live(ledger, "after") == IL_OK, "%s %ld: %s afterwards", CALL_NAMES[kind], at,
          il_ledger_failure(ledger)->message);
    next_ms += 2 * 3600 * 1000;
    il_ledger_close(ledger);
    il_store_close(store);
    il_store_close(memory);
    return reached;
}

int main(void)
{
    static const struct {
        il_store_status status;
        const char *message;
    } FAULTS[] = {
        {IL_STORE_FAILED, "the disk is gone"},
        {IL_STORE_FAILED, ""},
        {IL_STORE_FAILED, "no UTF-8: \xff\xfe"},
        {IL_STORE_NO_SUCH_STORE, ""},
        {IL_STORE_ACCESS_DENIED, ""},
        {(il_store_status)77, "a status that there is not"},
    };
    il_runtime *runtime = open_runtime();
    long faults = 0;
    for (size_t fault = 0; fault < sizeof FAULTS / sizeof *FAULTS; fault++) {
        for (int kind = 0; kind < CALLS; kind++) {
            long at = 0;
            while (run(runtime, kind, at, FAULTS[fault].status, FAULTS[fault].message)) {
                at++;
            }
            faults += at;
            CHECK(at > 0 || kind == REMOVE, "no call of %s was made to fail", CALL_NAMES[kind]);
        }
    }
    il_runtime_close(runtime);
    printf("%ld store failures\n", faults);
    return 0;
}
