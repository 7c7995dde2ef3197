/* One instance of the component, and its memory. */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

#define MAX_MEMORY_BYTES (16 << 20)

/* Instructions between two calls of the store: a second or two of computing. A whole `complete` of
   100 bytes needs a hundred thousand. */
#define FUEL 10000000000u

#define LEDGER "idempotency:ledger/ledger@0.1.0#"
#define MAINTENANCE "idempotency:ledger/maintenance@0.1.0#"

/* The calls, and their parameters as the canonical ABI has them. */
static const struct {
    const char *name, *parameters;
} CALLS[IL_CALLS] = {
    [IL_CALL_BEGIN] = {LEDGER "begin", "iiiiiiIiii"},
    [IL_CALL_COMPLETE] = {LEDGER "complete", "iiiiiiiiiIiIi"},
    [IL_CALL_RENEW] = {LEDGER "renew", "iiIiiiiI"},
    [IL_CALL_RELEASE] = {LEDGER "release", "iiIiii"},
    [IL_CALL_GET] = {LEDGER "get", "iiiii"},
    [IL_CALL_PURGE] = {MAINTENANCE "purge", "iIii"},
    [IL_CALL_FORGET] = {MAINTENANCE "forget", "iiIiii"},
    [IL_CALL_CHECK_STORE] = {MAINTENANCE "check-store", ""},
};

static bool are_of(const wasm_valtype_vec_t *types, const char *wanted)
{
    bool same = types->size == strlen(wanted);
    for (size_t at = 0; same && at < types->size; at++) {
        wasm_valkind_t kind = wanted[at] == 'i' ? WASM_I32 : WASM_I64;
        same = wasm_valtype_kind(types->data[at]) == kind;
    }
    return same;
}

/* Finds a function of these parameters and results: calls do not look at types any more. */
static bool find_function(il_guest *guest, const wasmtime_instance_t *instance, const char *name,
                          const char *parameters, const char *results, wasmtime_func_t *function)
{
    wasmtime_extern_t found;
    if (!wasmtime_instance_export_get(guest->context, instance, name, strlen(name), &found) ||
        found.kind != WASMTIME_EXTERN_FUNC) {
        return false;
    }
    *function = found.of.func;
    wasm_functype_t *type = wasmtime_func_type(guest->context, function);
    bool same = are_of(wasm_functype_params(type), parameters) &&
                are_of(wasm_functype_results(type), results);
    wasm_functype_delete(type);
    return same;
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
    bool found = find_function(guest, instance, "cabi_realloc", "iiii", "i", &guest->allocate);
    for (int call = 0; found && call < IL_CALLS; call++) {
        const char *name = CALLS[call].name;
        char free_name[80];
        snprintf(free_name, sizeof free_name, "cabi_post_%s", name);
        found = find_function(guest, instance, name, CALLS[call].parameters, "i",
                              &guest->calls[call]) &&
                find_function(guest, instance, free_name, "i", "", &guest->frees[call]);
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
    /* Nothing to enlarge, alignment, size; then the address. */
    wasmtime_val_raw_t values[4] = {{.i32 = 0}, {.i32 = 0}, {.i32 = 1},
                                    {.i32 = (int32_t)bytes.size}};
    wasm_trap_t *trap = NULL;
    wasmtime_error_t *error =
        wasmtime_func_call_unchecked(guest->context, &guest->allocate, values, 4, &trap);
    if (error != NULL || trap != NULL) {
        if (error != NULL) {
            wasmtime_error_delete(error);
        } else {
            wasm_trap_delete(trap);
        }
        return 0;
    }
    uint8_t *to = il_guest_bytes(guest, (uint32_t)values[0].i32, bytes.size);
    if (to == NULL) {
        return 0;
    }
    memcpy(to, bytes.data, bytes.size);
    return (uint32_t)values[0].i32;
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
