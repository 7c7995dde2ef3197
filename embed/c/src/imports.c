/* The component's imports: `wasi:keyvalue/store` over an il_store, and the wall clock. */
#include "imports.h"

#include <stdlib.h>

#define STORE "wasi:keyvalue/store@0.2.0-draft2"
#define ATOMICS "wasi:keyvalue/atomics@0.2.0-draft2"
#define CLOCK "wasi:clocks/wall-clock@0.2.12"

/* There is one bucket, so all its handles are the same. */
#define BUCKET 1

#define MS_PER_SECOND 1000u
#define NANOSECONDS_PER_MS 1000000u

const uint8_t *il_read_bytes(il_guest *guest, const wasmtime_val_raw_t *values, size_t at,
                             il_bytes *bytes)
{
    bytes->size = (uint32_t)values[at + 1].i32;
    bytes->data = il_guest_bytes(guest, (uint32_t)values[at].i32, bytes->size);
    return bytes->data;
}

bool il_read_text(il_guest *guest, const wasmtime_val_raw_t *values, size_t at, il_text *text)
{
    il_bytes bytes;
    text->data = (const char *)il_read_bytes(guest, values, at, &bytes);
    text->size = bytes.size;
    return text->data != NULL;
}

il_store_status il_look(il_guest *guest, il_text key, il_found *found, il_failure *failure)
{
    memset(found, 0, sizeof *found);
    il_store_status status = guest->store->calls->get(guest->store->self, key, found, failure);
    if (status != IL_STORE_OK) {
        free(found->value);
        memset(found, 0, sizeof *found);
    }
    return status;
}

const char *il_answer_error(il_guest *guest, uint32_t address, size_t offset,
                            il_store_status status, il_failure *failure)
{
    uint32_t text = 0;
    il_text message = {"", 0};
    if (status != IL_STORE_NO_SUCH_STORE && status != IL_STORE_ACCESS_DENIED) {
        failure->message[IL_MESSAGE_BYTES - 1] = '\0';
        message = il_str(failure->message);
        if (message.size == 0) {
            message = il_str("the store failed and did not say why");
        } else if (!il_is_utf8(message)) {
            message = il_str("the store failed and said why in no UTF-8");
        }
        text = il_guest_copy(guest, il_data(message.data, message.size));
        if (text == 0) {
            return IL_NO_MEMORY;
        }
    }
    uint8_t *at = il_guest_bytes(guest, address, offset + 12);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    at[0] = 1;
    at[offset] = status == IL_STORE_NO_SUCH_STORE ? 0 : status == IL_STORE_ACCESS_DENIED ? 1 : 2;
    il_store_u32(at + offset + 4, text);
    il_store_u32(at + offset + 8, (uint32_t)message.size);
    return NULL;
}

const char *il_answer_value(il_guest *guest, uint32_t address, const il_found *found)
{
    uint32_t value = 0;
    if (found->exists) {
        value = il_guest_copy(guest, il_data(found->value, found->size));
        if (value == 0) {
            return IL_NO_MEMORY;
        }
    }
    uint8_t *at = il_guest_bytes(guest, address, 16);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    at[0] = 0;
    at[4] = found->exists;
    il_store_u32(at + 8, value);
    il_store_u32(at + 12, (uint32_t)found->size);
    return NULL;
}

const char *il_answer_u32(il_guest *guest, uint32_t address, uint32_t value)
{
    uint8_t *at = il_guest_bytes(guest, address, 8);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    at[0] = 0;
    il_store_u32(at + 4, value);
    return NULL;
}

static const char *open_bucket(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text name;
    uint32_t address = (uint32_t)values[2].i32;
    if (!il_read_text(guest, values, 0, &name)) {
        return IL_OUT_OF_BOUNDS;
    }
    if (name.size != strlen("default") || memcmp(name.data, "default", name.size) != 0) {
        il_failure failure = {.message = ""};
        return il_answer_error(guest, address, 4, IL_STORE_NO_SUCH_STORE, &failure);
    }
    return il_answer_u32(guest, address, BUCKET);
}

static const char *drop_bucket(il_guest *guest, const wasmtime_val_raw_t *values)
{
    (void)guest, (void)values;
    return NULL;
}

static const char *bucket_get(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text key;
    uint32_t address = (uint32_t)values[3].i32;
    if (!il_read_text(guest, values, 1, &key)) {
        return IL_OUT_OF_BOUNDS;
    }
    il_found found;
    il_failure failure = {.message = ""};
    il_store_status status = il_look(guest, key, &found, &failure);
    const char *why = status == IL_STORE_OK
                          ? il_answer_value(guest, address, &found)
                          : il_answer_error(guest, address, 4, status, &failure);
    free(found.value);
    return why;
}

/* `result<_, error>`, of `set` and `delete`. */
static const char *answer_done(il_guest *guest, uint32_t address, il_store_status status,
                               il_failure *failure)
{
    return status == IL_STORE_OK ? il_answer_u32(guest, address, 0)
                                 : il_answer_error(guest, address, 4, status, failure);
}

static const char *bucket_exists(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text key;
    uint32_t address = (uint32_t)values[3].i32;
    if (!il_read_text(guest, values, 1, &key)) {
        return IL_OUT_OF_BOUNDS;
    }
    il_found found;
    il_failure failure = {.message = ""};
    il_store_status status = il_look(guest, key, &found, &failure);
    free(found.value);
    return status == IL_STORE_OK ? il_answer_u32(guest, address, found.exists)
                                 : il_answer_error(guest, address, 4, status, &failure);
}

static const char *bucket_set(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text key;
    il_bytes value;
    if (!il_read_text(guest, values, 1, &key) || il_read_bytes(guest, values, 3, &value) == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    const il_store *store = guest->store;
    il_failure failure = {.message = ""};
    il_store_status status = store->calls->set(store->self, key, value, &failure);
    return answer_done(guest, (uint32_t)values[5].i32, status, &failure);
}

static const char *bucket_delete(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text key;
    if (!il_read_text(guest, values, 1, &key)) {
        return IL_OUT_OF_BOUNDS;
    }
    const il_store *store = guest->store;
    il_failure failure = {.message = ""};
    il_store_status status = store->calls->remove(store->self, key, &failure);
    return answer_done(guest, (uint32_t)values[3].i32, status, &failure);
}

static const char *now(il_guest *guest, const wasmtime_val_raw_t *values)
{
    uint64_t now_ms = guest->clock.now_ms(guest->clock.self);
    uint8_t *at = il_guest_bytes(guest, (uint32_t)values[0].i32, 16);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    il_store_u64(at, now_ms / MS_PER_SECOND);
    il_store_u32(at + 8, (uint32_t)(now_ms % MS_PER_SECOND) * NANOSECONDS_PER_MS);
    return NULL;
}

/* `parameters`: `i` for an i32, `I` for an i64. No function has results: answers are written. */
static const struct import {
    const char *interface, *name, *parameters;
    il_host_function *function;
} IMPORTS[] = {
    {STORE, "open", "iii", open_bucket},
    {STORE, "[resource-drop]bucket", "i", drop_bucket},
    {STORE, "[method]bucket.get", "iiii", bucket_get},
    {STORE, "[method]bucket.set", "iiiiii", bucket_set},
    {STORE, "[method]bucket.delete", "iiii", bucket_delete},
    {STORE, "[method]bucket.exists", "iiii", bucket_exists},
    {ATOMICS, "increment", "iiiIi", il_increment},
    {ATOMICS, "[static]cas.new", "iiii", il_cas_new},
    {ATOMICS, "[method]cas.current", "ii", il_cas_current},
    {ATOMICS, "[resource-drop]cas", "i", il_cas_drop},
    {ATOMICS, "swap", "iiii", il_cas_swap},
    {CLOCK, "now", "i", now},
};

static wasm_trap_t *call_host(void *data, wasmtime_caller_t *caller, wasmtime_val_raw_t *values,
                              size_t size)
{
    (void)size;
    const struct import *import = data;
    il_guest *guest = wasmtime_context_get_data(wasmtime_caller_context(caller));
    il_guest_refuel(guest);
    const char *why = import->function(guest, values);
    return why == NULL ? NULL : wasmtime_trap_new(why, strlen(why));
}

static wasm_functype_t *type_of(const struct import *import)
{
    wasm_valtype_t *types[8];
    size_t size = strlen(import->parameters);
    for (size_t at = 0; at < size; at++) {
        types[at] = wasm_valtype_new(import->parameters[at] == 'i' ? WASM_I32 : WASM_I64);
    }
    wasm_valtype_vec_t parameters, results;
    wasm_valtype_vec_new(&parameters, size, types);
    wasm_valtype_vec_new_empty(&results);
    return wasm_functype_new(&parameters, &results);
}

wasmtime_error_t *il_define_imports(const il_runtime *runtime)
{
    wasmtime_error_t *error = NULL;
    for (size_t at = 0; error == NULL && at < sizeof IMPORTS / sizeof *IMPORTS; at++) {
        const struct import *import = &IMPORTS[at];
        wasm_functype_t *type = type_of(import);
        error = wasmtime_linker_define_func_unchecked(
            runtime->linker, import->interface, strlen(import->interface), import->name,
            strlen(import->name), type, call_host, (void *)import, NULL);
        wasm_functype_delete(type);
    }
    return error;
}
