/* Calls as a vector writes them: long texts are abbreviated, tokens have names. */
#include <stdlib.h>

#include "vectors.h"

static text copy_of(const char *data, size_t size)
{
    text made = {malloc(size + 1), size};
    if (made.data == NULL) {
        fail("out of memory");
    }
    memcpy(made.data, data, size);
    made.data[size] = '\0';
    return made;
}

/* `[piece, times]` */
static text repeated(json_object *repeat)
{
    json_object *piece = json_object_array_get_idx(repeat, 0);
    size_t size = (size_t)json_object_get_string_len(piece);
    size_t times = (size_t)json_object_get_int64(json_object_array_get_idx(repeat, 1));
    text made = {malloc(size * times + 1), size * times};
    if (made.data == NULL) {
        fail("out of memory");
    }
    for (size_t at = 0; at < times; at++) {
        memcpy(made.data + at * size, json_object_get_string(piece), size);
    }
    return made;
}

text read_text(json_object *spec)
{
    json_object *repeat;
    if (json_object_object_get_ex(spec, "repeat", &repeat)) {
        return repeated(repeat);
    }
    return copy_of(json_object_get_string(spec), (size_t)json_object_get_string_len(spec));
}

text read_hex(const char *hex, size_t size)
{
    text made = copy_of(hex, size / 2);
    for (size_t at = 0; at < size / 2; at++) {
        const char pair[] = {hex[2 * at], hex[2 * at + 1], '\0'};
        char *end;
        made.data[at] = (char)strtoul(pair, &end, 16);
        if (*end != '\0' || size % 2 != 0) {
            fail("%s is no hexadecimal", hex);
        }
    }
    return made;
}

text read_payload(json_object *spec)
{
    json_object *found;
    if (json_object_object_get_ex(spec, "text", &found)) {
        return read_text(found);
    }
    if (json_object_object_get_ex(spec, "hex", &found)) {
        return read_hex(json_object_get_string(found), (size_t)json_object_get_string_len(found));
    }
    if (json_object_object_get_ex(spec, "repeat", &found)) {
        return repeated(found);
    }
    fail("%s is no payload", json_object_to_json_string(spec));
}

static il_optional_u64 read_number(json_object *spec)
{
    if (!json_object_is_type(spec, json_type_int)) {
        fail("%s is no number", json_object_to_json_string(spec));
    }
    return il_u64(json_object_get_uint64(spec));
}

uint64_t token_value(const tokens *tokens, json_object *spec)
{
    if (json_object_is_type(spec, json_type_int)) {
        return json_object_get_uint64(spec);
    }
    json_object *of, *plus;
    if (json_object_object_get_ex(spec, "of", &of) &&
        json_object_object_get_ex(spec, "plus", &plus)) {
        return token_value(tokens, of) + (uint64_t)json_object_get_int64(plus);
    }
    for (int at = 0; at < tokens->size; at++) {
        if (strcmp(tokens->names[at], json_object_get_string(spec)) == 0) {
            return tokens->values[at];
        }
    }
    fail("the token %s was never answered", json_object_to_json_string(spec));
}

static bool read_argument(call *call, const char *name, json_object *value, const tokens *tokens)
{
    bool is_null = value == NULL;
    if (strcmp(name, "call") == 0) {
        call->name = json_object_get_string(value);
    } else if (strcmp(name, "key") == 0) {
        call->key = read_text(value);
    } else if (strcmp(name, "scope") == 0 && !is_null) {
        call->scope = read_text(value);
    } else if (strcmp(name, "payload") == 0 && !is_null) {
        call->payload = read_payload(value);
    } else if (strcmp(name, "fingerprint") == 0 && !is_null) {
        call->fingerprint =
            read_hex(json_object_get_string(value), (size_t)json_object_get_string_len(value));
    } else if (strcmp(name, "token") == 0 && !is_null) {
        call->token = il_u64(token_value(tokens, value));
    } else if (strcmp(name, "lease_ms") == 0) {
        call->lease_ms = read_number(value);
    } else if (strcmp(name, "ttl_ms") == 0) {
        call->ttl_ms = read_number(value);
    } else if (strcmp(name, "before_ms") == 0) {
        call->before_ms = read_number(value);
    } else if (strcmp(name, "limit") == 0) {
        call->limit = read_number(value);
    } else if (strcmp(name, "upsert_on_missing") == 0) {
        call->upsert_on_missing = json_object_get_boolean(value);
    } else {
        return is_null || strcmp(name, "at_ms") == 0 || strcmp(name, "expect") == 0;
    }
    return true;
}

/* Whatever is in a step must be known: a misspelt argument would be no argument. */
call read_call(json_object *step, const tokens *tokens)
{
    call call;
    memset(&call, 0, sizeof call);
    json_object_object_foreach(step, name, value)
    {
        if (!read_argument(&call, name, value, tokens)) {
            fail("%s does not belong in a step", name);
        }
    }
    if (call.name == NULL) {
        fail("a step without a call: %s", json_object_to_json_string(step));
    }
    return call;
}

void free_call(call *call)
{
    free(call->key.data);
    free(call->scope.data);
    free(call->payload.data);
    free(call->fingerprint.data);
}
