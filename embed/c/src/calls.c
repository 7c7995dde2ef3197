/* The calls for applications. Answers are read where the canonical ABI puts them; offsets count
   from the beginning of what a `result` holds. */
#include "internal.h"

/* A variant's payload of 8-byte alignment. */
#define HELD 8

static il_claim read_claim(const uint8_t *at)
{
    il_claim claim = {
        .token = il_load_u64(at),
        .expires_at_ms = il_load_u64(at + 8),
        .attempt = il_load_u32(at + 16),
    };
    return claim;
}

static il_lost_reason read_lost(const uint8_t *at)
{
    return at[0] < IL_LOST_ALREADY_DONE ? (il_lost_reason)at[0] : IL_LOST_ALREADY_DONE;
}

static il_status read_begin(il_ledger *ledger, const uint8_t *at, il_begin_answer *answer)
{
    const uint8_t *held = at + HELD;
    switch (at[0]) {
    case 0:
        answer->kind = IL_FRESH;
        answer->is.fresh = read_claim(held);
        return IL_OK;
    case 1:
        answer->kind = IL_INFLIGHT;
        answer->is.inflight.expires_at_ms = il_load_u64(held);
        answer->is.inflight.retry_after_ms = il_load_u64(held + 8);
        return IL_OK;
    case 2:
        answer->kind = IL_DONE;
        answer->is.done.token = il_load_u64(held + 16);
        answer->is.done.completed_at_ms = il_load_u64(held + 24);
        answer->is.done.expires_at_ms = il_load_u64(held + 32);
        return il_copy_payload(ledger, held, &answer->is.done.payload);
    default:
        answer->kind = IL_MISMATCH;
        return IL_OK;
    }
}

il_status il_begin(il_ledger *ledger, il_text key, const il_begin_options *options,
                   il_begin_answer *answer)
{
    static const il_begin_options NONE;
    const il_begin_options *given = options == NULL ? &NONE : options;
    memset(answer, 0, sizeof *answer);
    answer->kind = IL_MISMATCH; /* whoever forgets to look at the status must not start the work */
    il_arguments arguments = il_call_new(ledger, key, given->scope);
    il_pass_text(&arguments, key);
    il_pass_optional_text(&arguments, given->scope);
    il_pass_optional_u64(&arguments, given->lease_ms);
    il_pass_optional_bytes(&arguments, given->fingerprint);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_BEGIN, true, 56, &ok);
    if (status != IL_OK) {
        return status;
    }
    return il_call_end(ledger, IL_CALL_BEGIN, true, read_begin(ledger, ok, answer));
}

il_status il_complete(il_ledger *ledger, il_text key, il_bytes payload,
                      const il_complete_options *options, il_complete_answer *answer)
{
    static const il_complete_options NONE;
    const il_complete_options *given = options == NULL ? &NONE : options;
    memset(answer, 0, sizeof *answer);
    answer->kind = IL_COMPLETE_LOST;
    il_arguments arguments = il_call_new(ledger, key, given->scope);
    il_pass_text(&arguments, key);
    il_pass_optional_bytes(&arguments, payload);
    il_pass_optional_text(&arguments, given->scope);
    il_pass_optional_u64(&arguments, given->token);
    il_pass_optional_u64(&arguments, given->ttl_ms);
    il_pass_u32(&arguments, given->upsert_on_missing);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_COMPLETE, true, 40, &ok);
    if (status != IL_OK) {
        return status;
    }
    if (ok[0] == 0) {
        answer->kind = IL_RECORDED;
        answer->is.recorded.token = il_load_u64(ok + HELD);
        answer->is.recorded.completed_at_ms = il_load_u64(ok + HELD + 8);
        answer->is.recorded.expires_at_ms = il_load_u64(ok + HELD + 16);
    } else {
        answer->is.lost = read_lost(ok + HELD);
    }
    return il_call_end(ledger, IL_CALL_COMPLETE, true, IL_OK);
}

il_status il_renew(il_ledger *ledger, il_text key, il_token token, const il_renew_options *options,
                   il_renew_answer *answer)
{
    static const il_renew_options NONE;
    const il_renew_options *given = options == NULL ? &NONE : options;
    memset(answer, 0, sizeof *answer);
    answer->kind = IL_RENEW_LOST;
    il_arguments arguments = il_call_new(ledger, key, given->scope);
    il_pass_text(&arguments, key);
    il_pass_u64(&arguments, token);
    il_pass_optional_text(&arguments, given->scope);
    il_pass_optional_u64(&arguments, given->lease_ms);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_RENEW, true, 40, &ok);
    if (status != IL_OK) {
        return status;
    }
    if (ok[0] == 0) {
        answer->kind = IL_RENEWED;
        answer->is.renewed = read_claim(ok + HELD);
    } else {
        answer->is.lost = read_lost(ok + HELD);
    }
    return il_call_end(ledger, IL_CALL_RENEW, true, IL_OK);
}

il_status il_release(il_ledger *ledger, il_text key, il_token token, il_text scope,
                     il_release_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    answer->kind = IL_RELEASE_LOST;
    il_arguments arguments = il_call_new(ledger, key, scope);
    il_pass_text(&arguments, key);
    il_pass_u64(&arguments, token);
    il_pass_optional_text(&arguments, scope);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_RELEASE, true, 24, &ok);
    if (status != IL_OK) {
        return status;
    }
    if (ok[0] == 0) {
        answer->kind = IL_RELEASED;
    } else {
        answer->lost = read_lost(ok + 1); /* of one byte, so it needs no alignment */
    }
    return il_call_end(ledger, IL_CALL_RELEASE, true, IL_OK);
}

static il_status read_entry(il_ledger *ledger, const uint8_t *at, il_entry *answer)
{
    answer->exists = true;
    answer->done = at[0] == 1;
    answer->token = il_load_u64(at + 16);
    answer->attempt = il_load_u32(at + 24);
    answer->fingerprint = il_copy_fingerprint(ledger, at + 28);
    answer->claimed_at_ms = il_load_u64(at + 40);
    if (at[48] == 1) {
        answer->completed_at_ms = il_u64(il_load_u64(at + 56));
    }
    answer->expires_at_ms = il_load_u64(at + 64);
    answer->expired = at[72] == 1;
    return answer->done ? il_copy_payload(ledger, at + 4, &answer->payload) : IL_OK;
}

il_status il_get(il_ledger *ledger, il_text key, il_text scope, il_entry *answer)
{
    memset(answer, 0, sizeof *answer);
    il_arguments arguments = il_call_new(ledger, key, scope);
    il_pass_text(&arguments, key);
    il_pass_optional_text(&arguments, scope);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_GET, false, 96, &ok);
    if (status != IL_OK) {
        return status;
    }
    status = ok[0] == 1 ? read_entry(ledger, ok + HELD, answer) : IL_OK;
    return il_call_end(ledger, IL_CALL_GET, false, status);
}
