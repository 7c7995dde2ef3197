/* The calls for operators. Offsets count from the beginning of what a `result` holds. */
#include "internal.h"

il_status il_purge(il_ledger *ledger, const il_purge_options *options, il_purge_report *answer)
{
    static const il_purge_options NONE;
    const il_purge_options *given = options == NULL ? &NONE : options;
    memset(answer, 0, sizeof *answer);
    uint64_t limit = given->limit.given ? given->limit.value : 0;
    il_arguments arguments = il_call_new(ledger, il_str(NULL), il_str(NULL));
    il_pass_optional_u64(&arguments, given->before_ms);
    il_pass_u32(&arguments, given->limit.given);
    /* The component takes 32 bits. More is beyond its limit, and stays so. */
    il_pass_u32(&arguments, limit > UINT32_MAX ? UINT32_MAX : (uint32_t)limit);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_PURGE, true, 24, &ok);
    if (status != IL_OK) {
        return status;
    }
    answer->removed = il_load_u32(ok);
    answer->reclaimed = il_load_u32(ok + 4);
    answer->more = ok[8] == 1;
    return il_call_end(ledger, IL_CALL_PURGE, true, IL_OK);
}

il_status il_forget(il_ledger *ledger, il_text key, il_token token, il_text scope,
                    il_forget_answer *answer)
{
    memset(answer, 0, sizeof *answer);
    answer->kind = IL_FORGET_INFLIGHT;
    il_arguments arguments = il_call_new(ledger, key, scope);
    il_pass_text(&arguments, key);
    il_pass_u64(&arguments, token);
    il_pass_optional_text(&arguments, scope);
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_FORGET, true, 32, &ok);
    if (status != IL_OK) {
        return status;
    }
    switch (ok[0]) {
    case 0:
        answer->kind = IL_FORGOTTEN;
        break;
    case 1:
        answer->kind = IL_FORGET_MISSING;
        break;
    case 2:
        answer->kind = IL_FORGET_SUPERSEDED;
        break;
    default:
        answer->inflight.expires_at_ms = il_load_u64(ok + 8);
        answer->inflight.retry_after_ms = il_load_u64(ok + 16);
    }
    return il_call_end(ledger, IL_CALL_FORGET, true, IL_OK);
}

static il_finding read_finding(const uint8_t *at)
{
    return at[0] == 0 ? IL_SOUND : at[0] == 2 ? IL_UNTESTED : IL_UNSOUND;
}

il_status il_check_store(il_ledger *ledger, il_store_report *answer)
{
    memset(answer, 0, sizeof *answer);
    il_arguments arguments = il_call_new(ledger, il_str(NULL), il_str(NULL));
    const uint8_t *ok;
    il_status status = il_call_make(&arguments, IL_CALL_CHECK_STORE, false, 80, &ok);
    if (status != IL_OK) {
        return status;
    }
    answer->strategy = ok[0] == 0 ? IL_CAS : IL_TICKET;
    answer->sound = ok[1] == 1;
    answer->read_your_writes = read_finding(ok + 4);
    answer->increment = read_finding(ok + 16);
    answer->swap_absent = read_finding(ok + 28);
    answer->swap_present = read_finding(ok + 40);
    answer->swap_answer = read_finding(ok + 52);
    answer->now_ms = il_load_u64(ok + 64);
    return il_call_end(ledger, IL_CALL_CHECK_STORE, false, IL_OK);
}
