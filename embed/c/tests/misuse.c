/* Bad input is refused with a typed error; what cuts a call short leaves a ledger that works. */
#include <unistd.h>

#include "check.h"

static il_text text(const char *data, size_t size)
{
    il_text made = {data, size};
    return made;
}

static void refuses_what_is_no_utf8(il_ledger *ledger)
{
    static const char *const BAD[] = {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                      "\xe2\x82", "\x80"};
    il_begin_answer answer;
    for (size_t at = 0; at < sizeof BAD / sizeof *BAD; at++) {
        CHECK(il_begin(ledger, il_str(BAD[at]), NULL, &answer) == IL_INVALID_KEY, "%zu", at);
        const il_begin_options options = {.scope = il_str(BAD[at])};
        CHECK(il_begin(ledger, il_str("k"), &options, &answer) == IL_INVALID_KEY, "%zu", at);
    }
    static const char *const GOOD[] = {"\xc2\x80", "\xe2\x82\xac", "\xf0\x9f\x92\xb6",
                                       "\xf4\x8f\xbf\xbf"};
    for (size_t at = 0; at < sizeof GOOD / sizeof *GOOD; at++) {
        CHECK(il_begin(ledger, il_str(GOOD[at]), NULL, &answer) == IL_OK, "%zu", at);
        CHECK(answer.kind == IL_FRESH, "%zu", at);
    }
    CHECK(il_begin(ledger, text("a\0b", 3), NULL, &answer) == IL_OK, "NUL in a key");
}

static void refuses_what_is_too_large(il_ledger *ledger)
{
    size_t size = 64u << 20;
    char *large = malloc(size);
    CHECK(large != NULL, "out of memory");
    memset(large, 'k', size);
    il_begin_answer begun;
    CHECK(il_begin(ledger, text(large, size), NULL, &begun) == IL_INVALID_KEY, "a key of 64 MB");
    const il_begin_options print = {.fingerprint = il_data(large, size)};
    CHECK(il_begin(ledger, il_str("k"), &print, &begun) == IL_INVALID_KEY, "a fingerprint");
    il_complete_answer completed;
    il_status status = il_complete(ledger, il_str("k"), il_data(large, size), NULL, &completed);
    CHECK(status == IL_PAYLOAD_TOO_LARGE, "%s", il_status_name(status));
    CHECK(il_ledger_failure(ledger)->limit_bytes == 524288, "the limit is not told");
    const il_purge_options purge = {.limit = il_u64(UINT64_MAX)};
    il_purge_report report;
    CHECK(il_purge(ledger, &purge, &report) == IL_INVALID_LIMIT, "a limit of 2^64 - 1");
    free(large);
}

/* 60 s are 60 000 ms, and none is not zero. */
static void knows_its_units(il_ledger *ledger)
{
    il_begin_answer answer;
    const il_begin_options zero = {.lease_ms = il_u64(0)};
    CHECK(il_begin(ledger, il_str("z"), &zero, &answer) == IL_INVALID_TTL, "a lease of 0");
    const il_begin_options endless = {.lease_ms = il_u64(UINT64_MAX)};
    CHECK(il_begin(ledger, il_str("z"), &endless, &answer) == IL_INVALID_TTL, "an endless lease");
    CHECK(il_begin(ledger, il_str("z"), NULL, &answer) == IL_OK, "%s", "the default");
    il_store_report report;
    CHECK(il_check_store(ledger, &report) == IL_OK && report.sound, "an unsound store");
    uint64_t lease_ms = answer.is.fresh.expires_at_ms - answer.is.fresh.token;
    CHECK(lease_ms == 60000, "the default lease is %llu ms", (unsigned long long)lease_ms);
}

/* None, an empty payload and "null" are three outcomes. */
static void keeps_payloads_apart(il_ledger *ledger)
{
    const il_bytes none = {NULL, 0};
    const il_bytes payloads[] = {none, il_data(NULL, 0), il_data("null", 4)};
    const il_complete_options options = {.upsert_on_missing = true};
    for (size_t at = 0; at < 3; at++) {
        char key[20];
        snprintf(key, sizeof key, "payload %zu", at);
        il_complete_answer completed;
        CHECK(il_complete(ledger, il_str(key), payloads[at], &options, &completed) == IL_OK, "%zu",
              at);
        il_begin_answer answer;
        CHECK(il_begin(ledger, il_str(key), NULL, &answer) == IL_OK, "%zu", at);
        CHECK(answer.kind == IL_DONE, "%zu", at);
        il_bytes found = answer.is.done.payload;
        CHECK((found.data == NULL) == (at == 0) && found.size == payloads[at].size, "%zu", at);
    }
}

static il_store_status answer_too_much(void *self, il_text key, il_found *found,
                                       il_failure *failure)
{
    (void)key, (void)failure;
    size_t size = *(bool *)self ? 64u << 20 : 0;
    found->exists = size > 0;
    found->value = calloc(1, size + 1);
    found->size = size;
    return found->value == NULL ? IL_STORE_FAILED : IL_STORE_OK;
}

/* A value that does not fit into the component's memory ends the instance, not the process. */
static void replaces_an_instance(il_runtime *runtime)
{
    bool too_much = true;
    const il_store_calls calls = {.get = answer_too_much};
    il_store *store = il_store_new(&calls, &too_much);
    il_ledger *ledger = open_ledger(runtime, store);
    il_begin_answer begun;
    il_entry entry;
    CHECK(il_begin(ledger, il_str("k"), NULL, &begun) == IL_OUTCOME_UNKNOWN, "begin");
    CHECK(begun.kind == IL_MISMATCH, "an answer beside the error");
    CHECK(il_get(ledger, il_str("k"), il_str(NULL), &entry) == IL_UNAVAILABLE, "get");
    CHECK(il_ledger_failure(ledger)->message[0] != '\0', "no message");
    too_much = false;
    CHECK(il_get(ledger, il_str("k"), il_str(NULL), &entry) == IL_OK, "%s",
          il_ledger_failure(ledger)->message);
    CHECK(!entry.exists, "an entry");
    il_ledger_close(ledger);
    il_store_close(store);
}

static void refuses_what_it_cannot_open(void)
{
    il_failure failure;
    il_runtime *runtime;
    static const uint8_t EMPTY[] = {0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00};
    static const uint8_t CUT[] = {0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00, 0x01, 0x7f};
    const il_bytes components[] = {il_data("", 0), il_data("wasm", 4),
                                   il_data(EMPTY, sizeof EMPTY), il_data(CUT, sizeof CUT)};
    for (size_t at = 0; at < 4; at++) {
        CHECK(il_runtime_open_component(components[at], &runtime, &failure) == IL_NOT_OPENED,
              "component %zu", at);
        CHECK(runtime == NULL && failure.message[0] != '\0', "component %zu", at);
    }
    char path[] = "/tmp/ledger-misuse-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, "no database, but long enough to be looked at", 44) == 44,
          "a file");
    close(file);
    il_store *store;
    CHECK(il_sqlite_store_open(path, &store, &failure) == IL_NOT_OPENED, "no database");
    CHECK(store == NULL && strstr(failure.message, path) != NULL, "%s", failure.message);
    unlink(path);
    CHECK(il_sqlite_store_open("/nonexistent/ledger.db", &store, NULL) == IL_NOT_OPENED, "folder");
    il_runtime_close(NULL);
    il_ledger_close(NULL);
    il_store_close(NULL);
}

int main(void)
{
    il_runtime *runtime = open_runtime();
    il_store *store = open_memory();
    il_ledger *ledger = open_ledger(runtime, store);
    refuses_what_is_no_utf8(ledger);
    refuses_what_is_too_large(ledger);
    knows_its_units(ledger);
    keeps_payloads_apart(ledger);
    replaces_an_instance(runtime);
    refuses_what_it_cannot_open();
    il_ledger_close(ledger);
    il_store_close(store);
    il_runtime_close(runtime);
    puts("misuse: refused");
    return 0;
}
