/* What the files of this library share. */
#ifndef IL_INTERNAL_H
#define IL_INTERNAL_H

#include <wasmtime.h>

#include "idempotency_ledger.h"

/* The component's values lie in memory as little-endian machines have them. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "this library is for little-endian machines"
#endif

/* ---- The component, as it is built ---- */

/* `ledger-cas.wasm`; made by the build. */
extern const uint8_t il_component_data[];
extern const size_t il_component_size;

/* The core module of a component made by `wit-component`: the first one in it. Empty where
   `component` is none. */
il_bytes il_core_module(il_bytes component);

/* ---- Guests: one instance each, and what its imports work on ---- */

typedef enum il_call {
    IL_CALL_BEGIN,
    IL_CALL_COMPLETE,
    IL_CALL_RENEW,
    IL_CALL_RELEASE,
    IL_CALL_GET,
    IL_CALL_PURGE,
    IL_CALL_FORGET,
    IL_CALL_CHECK_STORE,
    IL_CALLS
} il_call;

struct il_runtime {
    wasm_engine_t *engine;
    wasmtime_module_t *module;
    wasmtime_linker_t *linker;
};

struct il_store {
    const il_store_calls *calls;
    void *self;
};

/* Handles of compare-and-swaps that one instance may have open; it needs two at most. */
#define IL_MAX_HANDLES 16

/* A handle of a compare-and-swap: the key, and the state that it is compared with. One that
   `cas.new` made is read there; one that came with a lost swap is read when it is first used. */
typedef struct il_handle {
    char *key; /* NULL where the handle is free */
    size_t key_size;
    bool seen;
    il_found found;
} il_handle;

typedef struct il_guest {
    il_store *store;
    il_clock clock;
    wasmtime_store_t *wasm;
    wasmtime_context_t *context;
    wasmtime_memory_t memory;
    wasmtime_func_t allocate;
    wasmtime_func_t calls[IL_CALLS];
    wasmtime_func_t frees[IL_CALLS]; /* of a call's answer */
    il_handle handles[IL_MAX_HANDLES];
} il_guest;

/* Makes a guest, or says why not and answers NULL. */
il_guest *il_guest_new(const il_runtime *runtime, il_store *store, il_clock clock,
                       il_failure *failure);
void il_guest_delete(il_guest *guest);

/* `size` bytes of the guest's memory; NULL where they are not within it. Valid until the guest
   runs again. */
uint8_t *il_guest_bytes(il_guest *guest, uint32_t address, size_t size);

/* Copies bytes into memory that the guest will free, and answers where; 0 if it has none left. */
uint32_t il_guest_copy(il_guest *guest, il_bytes bytes);

/* Lets it compute for a second or two more, where every call of the ledger needs microseconds. */
void il_guest_refuel(il_guest *guest);

/* Defines all imports of the component. */
wasmtime_error_t *il_define_imports(const il_runtime *runtime);

void il_handle_close(il_handle *handle);

/* ---- Numbers in the guest's memory: little-endian, at any address ---- */

uint32_t il_load_u32(const uint8_t *at);
uint64_t il_load_u64(const uint8_t *at);
void il_store_u32(uint8_t *at, uint32_t value);
void il_store_u64(uint8_t *at, uint64_t value);

/* ---- Ledgers ---- */

struct il_ledger {
    il_runtime *runtime;
    il_store *store;
    il_clock clock;
    il_guest *guest; /* NULL after a call that was cut short; the next call makes another */
    uint8_t *payload; /* of the last answer */
    size_t payload_room;
    uint8_t fingerprint[64];
    int32_t answer; /* where the guest put it, while a call is under way */
    il_failure failure;
};

/* Every answer is a `result<T, error>` of 8-byte alignment: what it holds begins here. */
#define IL_ANSWER 8
/* The size of one that holds an error. */
#define IL_ERROR_BYTES 24

/* Twice what the ledger takes of anything. More is cut off: it is refused all the same. */
#define IL_MAX_ARGUMENT_BYTES (1u << 20)

/* Arguments of a call as the component takes them: strings and lists lie in its memory. */
#define IL_MAX_ARGUMENTS 16
typedef struct il_arguments {
    il_ledger *ledger;
    wasmtime_val_raw_t values[IL_MAX_ARGUMENTS];
    size_t size;
    il_status status; /* why an argument could not be passed */
} il_arguments;

/* Begins a call. Refuses texts that are no UTF-8, which the component would take for it, before
   anything is copied into its memory. Arguments are passed in the order of the WIT. */
il_arguments il_call_new(il_ledger *ledger, il_text key, il_text scope);
void il_pass_u32(il_arguments *arguments, uint32_t value);
void il_pass_u64(il_arguments *arguments, uint64_t value);
void il_pass_text(il_arguments *arguments, il_text text);
void il_pass_optional_text(il_arguments *arguments, il_text text);
void il_pass_optional_bytes(il_arguments *arguments, il_bytes bytes);
void il_pass_optional_u64(il_arguments *arguments, il_optional_u64 value);

/* Makes the call. With IL_OK, `*ok` points to `size` bytes of the guest's memory: what the
   component answered. They have to be read before `il_call_end`. `writes`: whether a call that is
   cut short may have changed something. */
il_status il_call_make(il_arguments *arguments, il_call call, bool writes, size_t size,
                       const uint8_t **ok);
/* Ends a call that was IL_OK, with `status`, which it answers unless that fails. */
il_status il_call_end(il_ledger *ledger, il_call call, bool writes, il_status status);

/* An `option<list<u8>>` at `at`, copied to where an answer may point to it. */
il_status il_copy_payload(il_ledger *ledger, const uint8_t *at, il_bytes *payload);
il_bytes il_copy_fingerprint(il_ledger *ledger, const uint8_t *at);

/* ---- Words ---- */

/* Writes a message, cut where it is too long. `failure` may be NULL. */
void il_fail(il_failure *failure, const char *message);
void il_fail_text(il_failure *failure, il_text message);
/* The same of an error or a trap, which they delete. */
void il_fail_error(il_failure *failure, wasmtime_error_t *error);
void il_fail_trap(il_failure *failure, wasm_trap_t *trap);

bool il_is_utf8(il_text text);

#define IL_NO_MEMORY "out of memory"

#endif
