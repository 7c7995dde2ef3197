/* One instance of the component, and its memory. */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

#define MAX_MEMORY_BYTES (16 << 20)

/* Instructions between two calls of the store: a second or two of computing. A whole `complete` of
   100 bytes needs a hundred thousand. */
#define FUEL 10000000000u

static const char *const NAMES[IL_CALLS] = {
    [IL_CALL_BEGIN] = "idempotency:ledger/ledger@0.1.0#begin",
    [IL_CALL_COMPLETE] = "idempotency:ledger/ledger@0.1.0#complete",
    [IL_CALL_RENEW] = "idempotency:ledger/ledger@0.1.0#renew",
    [IL_CALL_RELEASE] = "idempotency:ledger/ledger@0.1.0#release",
    [IL_CALL_GET] = "idempotency:ledger/ledger@0.1.0#get",
    [IL_CALL_PURGE] = "idempotency:ledger/maintenance@0.1.0#purge",
    [IL_CALL_FORGET] = "idempotency:ledger/maintenance@0.1.0#forget",
    [IL_CALL_CHECK_STORE] = "idempotency:ledger/maintenance@0.1.0#check-store",
};

static bool find_function(il_guest *guest, const wasmtime_instance_t *instance, const char *name,
                          wasmtime_func_t *function)
{
    wasmtime_extern_t found;
    if (!wasmtime_instance_export_get(guest->context, instance, name, strlen(name), &found) ||
        found.kind != WASMTIME_EXTERN_FUNC) {
        return false;
    }
    *function = found.of.func;
    return true;
}

static bool find_exports(il_guest *guest, const wasmtime_instance_t *instance)
{
    wasmtime_extern_t memory;
    if (!wasmtime_instance_export_get(guest->context, instance, "memory", strlen("memory"),
                                      &memory) ||
        memory.kind != WASMTIME_EXTERN_MEMORY) {
        return false;
    }
    guest->memory = memory.of.memory;
    bool found = find_function(guest, instance, "cabi_realloc", &guest->allocate);
    for (int call = 0; found && call < IL_CALLS; call++) {
        char free_name[80];
        snprintf(free_name, sizeof free_name, "cabi_post_%s", NAMES[call]);
        found = find_function(guest, instance, NAMES[call], &guest->calls[call]) &&
                find_function(guest, instance, free_name, &guest->frees[call]);
    }
    return found;
}

static bool instantiate(const il_runtime *runtime, il_guest *guest, il_failure *failure)
{
    wasmtime_instance_t instance;
    wasm_trap_t *trap = NULL;
    wasmtime_error_t *error = wasmtime_linker_instantiate(runtime->linker, guest->context,
                                                          runtime->module, &instance, &trap);
    if (error != NULL) {
        il_fail_error(failure, error);
        return false;
    }
    if (trap != NULL) {
        il_fail_trap(failure, trap);
        return false;
    }
    if (!find_exports(guest, &instance)) {
        il_fail(failure, "the component is no ledger of version 0.1.0");
        return false;
    }
    return true;
}

il_guest *il_guest_new(const il_runtime *runtime, il_store *store, il_clock clock,
                       il_failure *failure)
{
    il_guest *guest = calloc(1, sizeof *guest);
    if (guest == NULL) {
        il_fail(failure, IL_NO_MEMORY);
        return NULL;
    }
    guest->store = store;
    guest->clock = clock;
    guest->wasm = wasmtime_store_new(runtime->engine, guest, NULL);
    guest->context = wasmtime_store_context(guest->wasm);
    wasmtime_store_limiter(guest->wasm, MAX_MEMORY_BYTES, -1, -1, -1, -1);
    il_guest_refuel(guest);
    if (!instantiate(runtime, guest, failure)) {
        il_guest_delete(guest);
        return NULL;
    }
    return guest;
}

void il_guest_refuel(il_guest *guest)
{
    /* Fails only where the engine does not count fuel, and this one does. */
    wasmtime_error_t *error = wasmtime_context_set_fuel(guest->context, FUEL);
    if (error != NULL) {
        wasmtime_error_delete(error);
    }
}

void il_guest_delete(il_guest *guest)
{
    if (guest == NULL) {
        return;
    }
    wasmtime_store_delete(guest->wasm);
    for (int at = 0; at < IL_MAX_HANDLES; at++) {
        il_handle_close(&guest->handles[at]);
    }
    free(guest);
}

uint8_t *il_guest_bytes(il_guest *guest, uint32_t address, size_t size)
{
    size_t all = wasmtime_memory_data_size(guest->context, &guest->memory);
    if (address > all || size > all - address) {
        return NULL;
    }
    return wasmtime_memory_data(guest->context, &guest->memory) + address;
}

uint32_t il_guest_copy(il_guest *guest, il_bytes bytes)
{
    if (bytes.size == 0) {
        return 1; /* any address does */
    }
    if (bytes.size > INT32_MAX) {
        return 0;
    }
    wasmtime_val_t arguments[4] = {{.kind = WASMTIME_I32}, {.kind = WASMTIME_I32},
                                   {.kind = WASMTIME_I32}, {.kind = WASMTIME_I32}};
    arguments[2].of.i32 = 1; /* alignment */
    arguments[3].of.i32 = (int32_t)bytes.size;
    wasmtime_val_t address;
    wasm_trap_t *trap = NULL;
    wasmtime_error_t *error = wasmtime_func_call(guest->context, &guest->allocate, arguments, 4,
                                                 &address, 1, &trap);
    if (error != NULL || trap != NULL) {
        if (error != NULL) {
            wasmtime_error_delete(error);
        } else {
            wasm_trap_delete(trap);
        }
        return 0;
    }
    uint8_t *to = il_guest_bytes(guest, (uint32_t)address.of.i32, bytes.size);
    if (to == NULL) {
        return 0;
    }
    memcpy(to, bytes.data, bytes.size);
    return (uint32_t)address.of.i32;
}

uint32_t il_load_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t il_load_u64(const uint8_t *at)
{
    return il_load_u32(at) | (uint64_t)il_load_u32(at + 4) << 32;
}

void il_store_u32(uint8_t *at, uint32_t value)
{
    for (int byte = 0; byte < 4; byte++) {
        at[byte] = (uint8_t)(value >> (8 * byte));
    }
}

void il_store_u64(uint8_t *at, uint64_t value)
{
    il_store_u32(at, (uint32_t)value);
    il_store_u32(at + 4, (uint32_t)(value >> 32));
}
