/* Calls of the library, and its answers in the words of the WIT. */
#include <stdio.h>
#include <stdlib.h>

#include "vectors.h"

static json_object *word(const char *text)
{
    return json_object_new_string(text);
}

static json_object *case_of(const char *name, json_object *value)
{
    json_object *made = json_object_new_object();
    json_object_object_add(made, name, value);
    return made;
}

static void add_u64(json_object *record, const char *name, uint64_t value)
{
    json_object_object_add(record, name, json_object_new_uint64(value));
}

static json_object *hex_of(il_bytes bytes)
{
    char *hex = malloc(2 * bytes.size + 1);
    for (size_t at = 0; at < bytes.size; at++) {
        snprintf(hex + 2 * at, 3, "%02x", bytes.data[at]);
    }
    json_object *made = json_object_new_string_len(hex, (int)(2 * bytes.size));
    free(hex);
    return made;
}

static json_object *payload_of(il_bytes bytes)
{
    return bytes.data == NULL ? NULL : case_of("hex", hex_of(bytes));
}

static json_object *lost(il_lost_reason reason)
{
    static const char *const WORDS[] = {"missing", "expired", "superseded", "already-done"};
    return case_of("lost", word(WORDS[reason]));
}

static json_object *claim(const char *name, const il_claim *claim)
{
    json_object *made = json_object_new_object();
    add_u64(made, "token", claim->token);
    add_u64(made, "expires-at-ms", claim->expires_at_ms);
    add_u64(made, "attempt", claim->attempt);
    return case_of(name, made);
}

static json_object *lease(const il_lease *lease)
{
    json_object *made = json_object_new_object();
    add_u64(made, "expires-at-ms", lease->expires_at_ms);
    add_u64(made, "retry-after-ms", lease->retry_after_ms);
    return case_of("inflight", made);
}

static json_object *failed(il_ledger *ledger, il_status status)
{
    const il_failure *failure = il_ledger_failure(ledger);
    json_object *error = word(il_status_name(status));
    if (failure->message[0] == '\0') {
        fail("the error %s says nothing", il_status_name(status));
    }
    if (status == IL_PAYLOAD_TOO_LARGE || status == IL_CONTENDED) {
        json_object_put(error);
        uint64_t detail = status == IL_CONTENDED ? failure->retry_after_ms : failure->limit_bytes;
        error = case_of(il_status_name(status), json_object_new_uint64(detail));
    }
    return case_of("error", error);
}

static il_text as_text(text text)
{
    il_text made = {text.data, text.size};
    return made;
}

static il_bytes as_bytes(text bytes)
{
    il_bytes made = {(const uint8_t *)bytes.data, bytes.size};
    return made;
}

static json_object *begin(il_ledger *ledger, const call *call)
{
    const il_begin_options options = {as_text(call->scope), call->lease_ms,
                                      as_bytes(call->fingerprint)};
    il_begin_answer answer;
    il_status status = il_begin(ledger, as_text(call->key), &options, &answer);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    if (answer.kind == IL_FRESH) {
        return claim("fresh", &answer.is.fresh);
    }
    if (answer.kind == IL_INFLIGHT) {
        return lease(&answer.is.inflight);
    }
    if (answer.kind == IL_MISMATCH) {
        return word("mismatch");
    }
    json_object *made = json_object_new_object();
    json_object_object_add(made, "payload", payload_of(answer.is.done.payload));
    add_u64(made, "token", answer.is.done.token);
    add_u64(made, "completed-at-ms", answer.is.done.completed_at_ms);
    add_u64(made, "expires-at-ms", answer.is.done.expires_at_ms);
    return case_of("done", made);
}

static json_object *complete(il_ledger *ledger, const call *call)
{
    const il_complete_options options = {as_text(call->scope), call->token, call->ttl_ms,
                                         call->upsert_on_missing};
    il_complete_answer answer;
    il_status status =
        il_complete(ledger, as_text(call->key), as_bytes(call->payload), &options, &answer);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    if (answer.kind == IL_COMPLETE_LOST) {
        return lost(answer.is.lost);
    }
    json_object *made = json_object_new_object();
    add_u64(made, "token", answer.is.recorded.token);
    add_u64(made, "completed-at-ms", answer.is.recorded.completed_at_ms);
    add_u64(made, "expires-at-ms", answer.is.recorded.expires_at_ms);
    return case_of("recorded", made);
}

static json_object *renew(il_ledger *ledger, const call *call)
{
    const il_renew_options options = {as_text(call->scope), call->lease_ms};
    il_renew_answer answer;
    il_status status =
        il_renew(ledger, as_text(call->key), call->token.value, &options, &answer);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    return answer.kind == IL_RENEWED ? claim("renewed", &answer.is.renewed) : lost(answer.is.lost);
}

static json_object *release(il_ledger *ledger, const call *call)
{
    il_release_answer answer;
    il_status status = il_release(ledger, as_text(call->key), call->token.value,
                                  as_text(call->scope), &answer);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    return answer.kind == IL_RELEASED ? word("released") : lost(answer.lost);
}

static json_object *get(il_ledger *ledger, const call *call)
{
    il_entry entry;
    il_status status = il_get(ledger, as_text(call->key), as_text(call->scope), &entry);
    if (status != IL_OK || !entry.exists) {
        return status == IL_OK ? NULL : failed(ledger, status);
    }
    json_object *made = json_object_new_object();
    json_object_object_add(made, "state", entry.done ? case_of("done", payload_of(entry.payload))
                                                     : word("inflight"));
    add_u64(made, "token", entry.token);
    add_u64(made, "attempt", entry.attempt);
    json_object_object_add(made, "fingerprint",
                           entry.fingerprint.data == NULL ? NULL : hex_of(entry.fingerprint));
    add_u64(made, "claimed-at-ms", entry.claimed_at_ms);
    json_object *completed = entry.completed_at_ms.given
                                 ? json_object_new_uint64(entry.completed_at_ms.value)
                                 : NULL;
    json_object_object_add(made, "completed-at-ms", completed);
    add_u64(made, "expires-at-ms", entry.expires_at_ms);
    json_object_object_add(made, "expired", json_object_new_boolean(entry.expired));
    return made;
}

static json_object *purge(il_ledger *ledger, const call *call)
{
    const il_purge_options options = {call->before_ms, call->limit};
    il_purge_report report;
    il_status status = il_purge(ledger, &options, &report);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    json_object *made = json_object_new_object();
    add_u64(made, "removed", report.removed);
    add_u64(made, "reclaimed", report.reclaimed);
    json_object_object_add(made, "more", json_object_new_boolean(report.more));
    return made;
}

static json_object *forget(il_ledger *ledger, const call *call)
{
    static const char *const WORDS[] = {"forgotten", "missing", "superseded"};
    il_forget_answer answer;
    il_status status = il_forget(ledger, as_text(call->key), call->token.value,
                                 as_text(call->scope), &answer);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    return answer.kind == IL_FORGET_INFLIGHT ? lease(&answer.inflight) : word(WORDS[answer.kind]);
}

static json_object *check_store(il_ledger *ledger)
{
    static const char *const WORDS[] = {"sound", "unsound", "untested"};
    il_store_report report;
    il_status status = il_check_store(ledger, &report);
    if (status != IL_OK) {
        return failed(ledger, status);
    }
    json_object *made = json_object_new_object();
    json_object_object_add(made, "strategy", word(report.strategy == IL_CAS ? "cas" : "ticket"));
    json_object_object_add(made, "sound", json_object_new_boolean(report.sound));
    json_object_object_add(made, "read-your-writes", word(WORDS[report.read_your_writes]));
    json_object_object_add(made, "increment", word(WORDS[report.increment]));
    json_object_object_add(made, "swap-absent", word(WORDS[report.swap_absent]));
    json_object_object_add(made, "swap-present", word(WORDS[report.swap_present]));
    json_object_object_add(made, "swap-answer", word(WORDS[report.swap_answer]));
    add_u64(made, "now-ms", report.now_ms);
    return made;
}

json_object *make_call(il_ledger *ledger, const call *call)
{
    static const struct {
        const char *name;
        json_object *(*make)(il_ledger *, const struct call *);
    } CALLS[] = {
        {"begin", begin}, {"complete", complete}, {"renew", renew},   {"release", release},
        {"get", get},     {"purge", purge},       {"forget", forget},
    };
    for (size_t at = 0; at < sizeof CALLS / sizeof *CALLS; at++) {
        if (strcmp(call->name, CALLS[at].name) == 0) {
            return CALLS[at].make(ledger, call);
        }
    }
    if (strcmp(call->name, "check-store") == 0) {
        return check_store(ledger);
    }
    fail("%s is no call", call->name);
}
