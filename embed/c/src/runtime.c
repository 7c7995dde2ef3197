/* What a process needs once: the engine, the compiled component, its imports. */
#include <stdlib.h>

#include "internal.h"

/* The guest's memory never grows beyond 16 MiB; reserve that and not the usual 4 GiB, so that
   many ledgers fit where the address space is limited. */
#define MEMORY_RESERVATION_BYTES (16u << 20)

static wasm_engine_t *new_engine(void)
{
    wasm_config_t *config = wasm_config_new();
    if (config == NULL) {
        return NULL;
    }
    wasmtime_config_consume_fuel_set(config, true);
    wasmtime_config_memory_reservation_set(config, MEMORY_RESERVATION_BYTES);
    wasmtime_config_memory_may_move_set(config, false);
    return wasm_engine_new_with_config(config);
}

static wasmtime_error_t *fill(il_runtime *runtime, il_bytes component)
{
    il_bytes module = il_core_module(component);
    if (module.size == 0) {
        return wasmtime_error_new("this is no component");
    }
    runtime->engine = new_engine();
    if (runtime->engine == NULL) {
        return wasmtime_error_new("no engine can be made");
    }
    wasmtime_error_t *error =
        wasmtime_module_new(runtime->engine, module.data, module.size, &runtime->module);
    if (error != NULL) {
        return error;
    }
    runtime->linker = wasmtime_linker_new(runtime->engine);
    return il_define_imports(runtime);
}

il_status il_runtime_open_component(il_bytes component, il_runtime **runtime, il_failure *failure)
{
    *runtime = NULL;
    il_runtime *made = calloc(1, sizeof *made);
    if (made == NULL) {
        il_fail(failure, IL_NO_MEMORY);
        return IL_NOT_OPENED;
    }
    wasmtime_error_t *error = fill(made, component);
    if (error != NULL) {
        il_fail_error(failure, error);
        il_runtime_close(made);
        return IL_NOT_OPENED;
    }
    *runtime = made;
    return IL_OK;
}

il_status il_runtime_open(il_runtime **runtime, il_failure *failure)
{
    return il_runtime_open_component(il_data(il_component_data, il_component_size), runtime,
                                     failure);
}

void il_runtime_close(il_runtime *runtime)
{
    if (runtime == NULL) {
        return;
    }
    if (runtime->linker != NULL) {
        wasmtime_linker_delete(runtime->linker);
    }
    if (runtime->module != NULL) {
        wasmtime_module_delete(runtime->module);
    }
    if (runtime->engine != NULL) {
        wasm_engine_delete(runtime->engine);
    }
    free(runtime);
}
