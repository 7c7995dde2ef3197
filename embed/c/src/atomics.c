/* `wasi:keyvalue/atomics`: increments, and compare-and-swaps by version. */
#include <stdlib.h>

#include "imports.h"

const char *il_increment(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text key;
    uint32_t address = (uint32_t)values[4].i32;
    if (!il_read_text(guest, values, 1, &key)) {
        return IL_OUT_OF_BOUNDS;
    }
    const il_store *store = guest->store;
    int64_t sum = 0;
    il_failure failure = {.message = ""};
    il_store_status status =
        store->calls->increment(store->self, key, values[3].i64, &sum, &failure);
    if (status != IL_STORE_OK) {
        return il_answer_error(guest, address, 8, status, &failure);
    }
    uint8_t *at = il_guest_bytes(guest, address, 16);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    at[0] = 0;
    il_store_u64(at + 8, (uint64_t)sum);
    return NULL;
}

void il_handle_close(il_handle *handle)
{
    free(handle->key);
    free(handle->found.value);
    memset(handle, 0, sizeof *handle);
}

/* A new handle on `key`, not read yet; its number, or 0 where there is no room. */
static uint32_t open_handle(il_guest *guest, il_text key)
{
    for (uint32_t at = 0; at < IL_MAX_HANDLES; at++) {
        il_handle *handle = &guest->handles[at];
        if (handle->key != NULL) {
            continue;
        }
        handle->key = malloc(key.size + 1);
        if (handle->key == NULL) {
            return 0;
        }
        memcpy(handle->key, key.data, key.size);
        handle->key_size = key.size;
        return at + 1;
    }
    return 0;
}

/* The handle of this number, or NULL. */
static il_handle *handle_of(il_guest *guest, const wasmtime_val_raw_t *value)
{
    uint32_t number = (uint32_t)value->i32;
    if (number == 0 || number > IL_MAX_HANDLES || guest->handles[number - 1].key == NULL) {
        return NULL;
    }
    return &guest->handles[number - 1];
}

static il_text key_of(const il_handle *handle)
{
    il_text key = {handle->key, handle->key_size};
    return key;
}

const char *il_cas_new(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_text key;
    uint32_t address = (uint32_t)values[3].i32;
    if (!il_read_text(guest, values, 1, &key)) {
        return IL_OUT_OF_BOUNDS;
    }
    il_found found;
    il_failure failure = {.message = ""};
    il_store_status status = il_look(guest, key, &found, &failure);
    if (status != IL_STORE_OK) {
        return il_answer_error(guest, address, 4, status, &failure);
    }
    uint32_t number = open_handle(guest, key);
    if (number == 0) {
        free(found.value);
        return IL_NO_MEMORY;
    }
    il_handle *handle = &guest->handles[number - 1];
    handle->seen = true;
    handle->found = found;
    return il_answer_u32(guest, address, number);
}

/* Reads the handle's key unless that was done before. */
static il_store_status see(il_guest *guest, il_handle *handle, il_failure *failure)
{
    if (handle->seen) {
        return IL_STORE_OK;
    }
    il_store_status status = il_look(guest, key_of(handle), &handle->found, failure);
    handle->seen = status == IL_STORE_OK;
    return status;
}

const char *il_cas_current(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_handle *handle = handle_of(guest, &values[0]);
    uint32_t address = (uint32_t)values[1].i32;
    if (handle == NULL) {
        return IL_NO_SUCH_HANDLE;
    }
    il_failure failure = {.message = ""};
    il_store_status status = see(guest, handle, &failure);
    return status == IL_STORE_OK ? il_answer_value(guest, address, &handle->found)
                                 : il_answer_error(guest, address, 4, status, &failure);
}

const char *il_cas_drop(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_handle *handle = handle_of(guest, &values[0]);
    if (handle == NULL) {
        return IL_NO_SUCH_HANDLE;
    }
    il_handle_close(handle);
    return NULL;
}

/* `err(cas-failed(handle))`. Who lost a swap gets a new handle. It may never be used, and a read
   that fails must not hide that the swap was lost, so it is read later. */
static const char *answer_lost(il_guest *guest, uint32_t address, uint32_t number)
{
    uint8_t *at = il_guest_bytes(guest, address, 20);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    at[0] = 1;
    at[4] = 1;
    il_store_u32(at + 8, number);
    return NULL;
}

/* `err(store-error(error))`: an error within an error. */
static const char *answer_failed(il_guest *guest, uint32_t address, il_store_status status,
                                 il_failure *failure)
{
    const char *why = il_answer_error(guest, address, 8, status, failure);
    uint8_t *at = il_guest_bytes(guest, address, 20);
    if (at == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    at[4] = 0;
    return why;
}

const char *il_cas_swap(il_guest *guest, const wasmtime_val_raw_t *values)
{
    il_handle *handle = handle_of(guest, &values[0]);
    uint32_t address = (uint32_t)values[3].i32;
    il_bytes value;
    if (handle == NULL) {
        return IL_NO_SUCH_HANDLE;
    }
    if (il_read_bytes(guest, values, 1, &value) == NULL) {
        return IL_OUT_OF_BOUNDS;
    }
    const il_store *store = guest->store;
    bool swapped = false;
    il_failure failure = {.message = ""};
    il_store_status status = see(guest, handle, &failure);
    if (status == IL_STORE_OK) {
        const uint64_t *expected = handle->found.exists ? &handle->found.version : NULL;
        status = store->calls->compare_and_swap(store->self, key_of(handle), expected, value,
                                                &swapped, &failure);
    }
    /* The handle is used up, and a new one on the same key may take its place. */
    uint32_t number = 0;
    if (status == IL_STORE_OK && !swapped) {
        number = open_handle(guest, key_of(handle));
    }
    il_handle_close(handle);
    if (status != IL_STORE_OK) {
        return answer_failed(guest, address, status, &failure);
    }
    if (swapped) {
        return il_answer_u32(guest, address, 0);
    }
    return number == 0 ? IL_NO_MEMORY : answer_lost(guest, address, number);
}
