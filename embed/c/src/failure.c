/* Messages, and the names of what they belong to. */
#include "internal.h"

static const char *const NAMES[] = {
    [IL_OK] = "ok",
    [IL_INVALID_KEY] = "invalid-key",
    [IL_INVALID_TTL] = "invalid-ttl",
    [IL_INVALID_LIMIT] = "invalid-limit",
    [IL_PAYLOAD_TOO_LARGE] = "payload-too-large",
    [IL_NO_SUCH_STORE] = "no-such-store",
    [IL_ACCESS_DENIED] = "access-denied",
    [IL_UNAVAILABLE] = "unavailable",
    [IL_OUTCOME_UNKNOWN] = "outcome-unknown",
    [IL_CONTENDED] = "contended",
    [IL_DEADLINE_EXCEEDED] = "deadline-exceeded",
    [IL_CORRUPT] = "corrupt",
    [IL_NOT_OPENED] = "not-opened",
};

const char *il_status_name(il_status status)
{
    return (size_t)status < sizeof NAMES / sizeof *NAMES ? NAMES[status] : "unknown";
}

void il_fail_text(il_failure *failure, il_text message)
{
    if (failure == NULL) {
        return;
    }
    size_t size = message.size;
    if (size >= IL_MESSAGE_BYTES) {
        /* Cut before a character, not in one. */
        size = IL_MESSAGE_BYTES - 1;
        while (size > 0 && ((uint8_t)message.data[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    memcpy(failure->message, message.data, size);
    failure->message[size] = '\0';
}

void il_fail(il_failure *failure, const char *message)
{
    il_fail_text(failure, il_str(message));
}

void il_fail_error(il_failure *failure, wasmtime_error_t *error)
{
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    il_text text = {message.data, message.size};
    il_fail_text(failure, text);
    wasm_byte_vec_delete(&message);
    wasmtime_error_delete(error);
}

void il_fail_trap(il_failure *failure, wasm_trap_t *trap)
{
    wasm_message_t message;
    wasm_trap_message(trap, &message);
    /* It ends with a NUL. */
    il_text text = {message.data, message.size == 0 ? 0 : message.size - 1};
    il_fail_text(failure, text);
    wasm_byte_vec_delete(&message);
    wasm_trap_delete(trap);
}
