/* Opening and closing a ledger, and how it makes a call. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "internal.h"

/* Before 1970 it reads 0. */
static uint64_t system_now_ms(void *self)
{
    (void)self;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 || now.tv_sec < 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

il_status il_ledger_open(il_runtime *runtime, il_store *store, const il_clock *clock,
                         il_ledger **ledger, il_failure *failure)
{
    *ledger = NULL;
    il_ledger *made = calloc(1, sizeof *made);
    if (made == NULL) {
        il_fail(failure, IL_NO_MEMORY);
        return IL_NOT_OPENED;
    }
    made->runtime = runtime;
    made->store = store;
    made->clock.now_ms = system_now_ms;
    if (clock != NULL && clock->now_ms != NULL) {
        made->clock = *clock;
    }
    made->guest = il_guest_new(runtime, store, made->clock, failure);
    if (made->guest == NULL) {
        il_ledger_close(made);
        return IL_NOT_OPENED;
    }
    *ledger = made;
    return IL_OK;
}

void il_ledger_close(il_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    il_guest_delete(ledger->guest);
    free(ledger->payload);
    free(ledger);
}

const il_failure *il_ledger_failure(const il_ledger *ledger)
{
    return &ledger->failure;
}

/* A guest that was cut short cannot be entered again: the next call gets a new one. */
static il_status cut_short(il_ledger *ledger, bool writes)
{
    il_guest_delete(ledger->guest);
    ledger->guest = NULL;
    return writes ? IL_OUTCOME_UNKNOWN : IL_UNAVAILABLE;
}

/* Runs a function of the guest, which puts its result in place of the first argument; false with
   the message written where that ends otherwise. */
static bool run(il_ledger *ledger, const wasmtime_func_t *function, wasmtime_val_raw_t *values,
                size_t size)
{
    wasm_trap_t *trap = NULL;
    il_guest_refuel(ledger->guest);
    wasmtime_error_t *error =
        wasmtime_func_call_unchecked(ledger->guest->context, function, values, size, &trap);
    if (error != NULL) {
        il_fail_error(&ledger->failure, error);
        return false;
    }
    if (trap != NULL) {
        il_fail_trap(&ledger->failure, trap);
        return false;
    }
    return true;
}

/* Reads the variant `error` at `at`. Its cases stand in the order of `il_status`. */
static il_status read_error(il_ledger *ledger, const uint8_t *at)
{
    il_failure *failure = &ledger->failure;
    il_status status = (il_status)(at[0] + IL_INVALID_KEY);
    switch (status) {
    case IL_PAYLOAD_TOO_LARGE:
        failure->limit_bytes = il_load_u32(at + 8);
        snprintf(failure->message, IL_MESSAGE_BYTES, "a payload has at most %lu bytes",
                 (unsigned long)failure->limit_bytes);
        return status;
    case IL_CONTENDED:
        failure->retry_after_ms = il_load_u64(at + 8);
        snprintf(failure->message, IL_MESSAGE_BYTES, "retry after %llu ms",
                 (unsigned long long)failure->retry_after_ms);
        return status;
    case IL_NO_SUCH_STORE:
        il_fail(failure, "no such store");
        return status;
    case IL_ACCESS_DENIED:
        il_fail(failure, "the store denies access");
        return status;
    case IL_DEADLINE_EXCEEDED:
        il_fail(failure, "the call ran for too long and recorded nothing");
        return status;
    default: {
        uint32_t size = il_load_u32(at + 12);
        il_text text = {(const char *)il_guest_bytes(ledger->guest, il_load_u32(at + 8), size),
                        size};
        if (text.data != NULL) {
            il_fail_text(failure, text);
        }
        return status;
    }
    }
}

il_status il_call_make(il_arguments *arguments, il_call call, bool writes, size_t size,
                       const uint8_t **ok)
{
    il_ledger *ledger = arguments->ledger;
    if (arguments->status != IL_OK) {
        return arguments->status;
    }
    if (!run(ledger, &ledger->guest->calls[call], arguments->values, IL_MAX_ARGUMENTS)) {
        return cut_short(ledger, writes);
    }
    ledger->answer = arguments->values[0].i32;
    /* An error is never larger than the rest of an answer. */
    size_t whole = size > IL_ERROR_BYTES ? size : IL_ERROR_BYTES;
    const uint8_t *at = il_guest_bytes(ledger->guest, (uint32_t)ledger->answer, whole);
    if (at == NULL || at[0] > 1 || (at[0] == 1 && at[IL_ANSWER] > IL_CORRUPT - IL_INVALID_KEY)) {
        il_fail(&ledger->failure, "the component's answer is none");
        return cut_short(ledger, writes);
    }
    if (at[0] == 1) {
        return il_call_end(ledger, call, writes, read_error(ledger, at + IL_ANSWER));
    }
    *ok = at + IL_ANSWER;
    return IL_OK;
}

il_status il_call_end(il_ledger *ledger, il_call call, bool writes, il_status status)
{
    wasmtime_val_raw_t answer = {.i32 = ledger->answer};
    il_failure kept = ledger->failure;
    if (!run(ledger, &ledger->guest->frees[call], &answer, 1)) {
        /* The answer was read and stands; only the guest is of no more use. */
        cut_short(ledger, writes);
        ledger->failure = kept;
    }
    return status;
}
