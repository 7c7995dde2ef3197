/* Arguments of a call, passed to the component, and bytes of its answer, taken out. */
#include <stdlib.h>

#include "internal.h"

il_arguments il_call_new(il_ledger *ledger, il_text key, il_text scope)
{
    il_arguments arguments = {.ledger = ledger, .status = IL_OK};
    memset(&ledger->failure, 0, sizeof ledger->failure);
    if (!il_is_utf8(key) || !il_is_utf8(scope)) {
        il_fail(&ledger->failure, "the key or the scope is no UTF-8");
        arguments.status = IL_INVALID_KEY;
    } else if (ledger->guest == NULL) {
        ledger->guest =
            il_guest_new(ledger->runtime, ledger->store, ledger->clock, &ledger->failure);
        arguments.status = ledger->guest == NULL ? IL_UNAVAILABLE : IL_OK;
    }
    return arguments;
}

void il_pass_u32(il_arguments *arguments, uint32_t value)
{
    arguments->values[arguments->size++].i32 = (int32_t)value;
}

void il_pass_u64(il_arguments *arguments, uint64_t value)
{
    arguments->values[arguments->size++].i64 = (int64_t)value;
}

/* Passes an address and a size. */
static void pass_bytes(il_arguments *arguments, il_bytes bytes)
{
    uint32_t address = 0;
    il_ledger *ledger = arguments->ledger;
    /* Much larger than anything that the ledger takes, and small enough to be told so by it. */
    if (bytes.size > IL_MAX_ARGUMENT_BYTES) {
        bytes.size = IL_MAX_ARGUMENT_BYTES;
    }
    if (arguments->status == IL_OK) {
        address = il_guest_copy(ledger->guest, bytes);
        if (address == 0) {
            il_fail(&ledger->failure, "the component has no memory left");
            arguments->status = IL_UNAVAILABLE;
            il_guest_delete(ledger->guest);
            ledger->guest = NULL;
        }
    }
    il_pass_u32(arguments, address);
    il_pass_u32(arguments, (uint32_t)bytes.size);
}

void il_pass_text(il_arguments *arguments, il_text text)
{
    pass_bytes(arguments, il_data(text.data, text.size));
}

void il_pass_optional_text(il_arguments *arguments, il_text text)
{
    il_pass_u32(arguments, text.data != NULL);
    if (text.data == NULL) {
        text.size = 0;
    }
    il_pass_text(arguments, text);
}

void il_pass_optional_bytes(il_arguments *arguments, il_bytes bytes)
{
    il_pass_u32(arguments, bytes.data != NULL);
    pass_bytes(arguments, il_data(bytes.data, bytes.data == NULL ? 0 : bytes.size));
}

void il_pass_optional_u64(il_arguments *arguments, il_optional_u64 value)
{
    il_pass_u32(arguments, value.given);
    il_pass_u64(arguments, value.given ? value.value : 0);
}

/* The bytes of an `option<list<u8>>` at `at`, within the guest's memory. */
static bool find_bytes(il_ledger *ledger, const uint8_t *at, il_bytes *bytes)
{
    bytes->data = NULL;
    bytes->size = 0;
    if (at[0] == 0) {
        return true;
    }
    bytes->size = il_load_u32(at + 8);
    bytes->data = il_guest_bytes(ledger->guest, il_load_u32(at + 4), bytes->size);
    return bytes->data != NULL;
}

il_status il_copy_payload(il_ledger *ledger, const uint8_t *at, il_bytes *payload)
{
    il_bytes found;
    if (!find_bytes(ledger, at, &found)) {
        il_fail(&ledger->failure, "the component's answer is none");
        return IL_UNAVAILABLE;
    }
    if (found.size >= ledger->payload_room) {
        uint8_t *room = realloc(ledger->payload, found.size + 1);
        if (room == NULL) {
            il_fail(&ledger->failure, IL_NO_MEMORY);
            return IL_UNAVAILABLE;
        }
        ledger->payload = room;
        ledger->payload_room = found.size + 1;
    }
    if (found.data != NULL) {
        memcpy(ledger->payload, found.data, found.size);
        *payload = il_data(ledger->payload, found.size);
    }
    return IL_OK;
}

il_bytes il_copy_fingerprint(il_ledger *ledger, const uint8_t *at)
{
    il_bytes found, none = {NULL, 0};
    if (!find_bytes(ledger, at, &found) || found.data == NULL ||
        found.size > sizeof ledger->fingerprint) {
        return none;
    }
    memcpy(ledger->fingerprint, found.data, found.size);
    return il_data(ledger->fingerprint, found.size);
}
