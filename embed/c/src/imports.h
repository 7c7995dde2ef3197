/* What the host functions share. */
#ifndef IL_IMPORTS_H
#define IL_IMPORTS_H

#include "internal.h"

/* A host function. It reads its arguments from `values` and writes its answer into the guest's
   memory, at the address that is the last of them. It answers NULL, or why the guest cannot go
   on: then the call that is under way is cut short. */
typedef const char *il_host_function(il_guest *guest, const wasmtime_val_raw_t *values);

/* `wasi:keyvalue/atomics`. */
il_host_function il_increment, il_cas_new, il_cas_current, il_cas_swap, il_cas_drop;

/* Why a guest cannot go on. */
#define IL_OUT_OF_BOUNDS "the component named an address outside its memory"
#define IL_NO_SUCH_HANDLE "the component named a handle that it does not have"

/* The bytes whose address and size are `values[at]` and the next; NULL out of bounds. They are
   valid until the guest runs again. */
const uint8_t *il_read_bytes(il_guest *guest, const wasmtime_val_raw_t *values, size_t at,
                             il_bytes *bytes);
/* The same as text, which the component promises is UTF-8. */
bool il_read_text(il_guest *guest, const wasmtime_val_raw_t *values, size_t at, il_text *text);

/* Reads a key of the store; `found->value` is the caller's to free. */
il_store_status il_look(il_guest *guest, il_text key, il_found *found, il_failure *failure);

/* Write an answer of the type `result<T, error>`, where T begins `offset` bytes after the start.
   Each answers what a host function does. */
const char *il_answer_error(il_guest *guest, uint32_t address, size_t offset,
                            il_store_status status, il_failure *failure);
const char *il_answer_value(il_guest *guest, uint32_t address, const il_found *found);
const char *il_answer_u32(il_guest *guest, uint32_t address, uint32_t value);

#endif
