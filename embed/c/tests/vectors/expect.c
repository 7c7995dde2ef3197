/* Whether an answer is the expected one; tokens get their values on the way. */
#include <stdlib.h>

#include "vectors.h"

static bool is_number(json_object *value)
{
    return json_object_is_type(value, json_type_int);
}

static bool fits_token(tokens *tokens, json_object *expected, json_object *got)
{
    if (!is_number(got)) {
        return false;
    }
    uint64_t value = json_object_get_uint64(got);
    if (!json_object_is_type(expected, json_type_string)) {
        return token_value(tokens, expected) == value;
    }
    const char *name = json_object_get_string(expected);
    for (int at = 0; at < tokens->size; at++) {
        if (strcmp(tokens->names[at], name) == 0) {
            return tokens->values[at] == value;
        }
    }
    if (tokens->size == MAX_TOKENS) {
        fail("more than %d tokens in one scenario", MAX_TOKENS);
    }
    tokens->names[tokens->size] = name;
    tokens->values[tokens->size++] = value;
    return true;
}

static bool fits_bytes(json_object *expected, const char *hex)
{
    text bytes = read_payload(expected);
    text got = read_hex(hex, strlen(hex));
    bool same = bytes.size == got.size && memcmp(bytes.data, got.data, got.size) == 0;
    free(bytes.data);
    free(got.data);
    return same;
}

static bool fits_object(tokens *tokens, json_object *expected, json_object *got)
{
    json_object *hex;
    if (json_object_object_get_ex(got, "hex", &hex)) {
        return fits_bytes(expected, json_object_get_string(hex));
    }
    if (json_object_object_length(expected) != json_object_object_length(got)) {
        return false;
    }
    json_object_object_foreach(expected, name, value)
    {
        json_object *found;
        if (!json_object_object_get_ex(got, name, &found)) {
            return false;
        }
        if (strcmp(name, "token") == 0 ? !fits_token(tokens, value, found)
                                       : !fits(tokens, value, found)) {
            return false;
        }
    }
    return true;
}

bool fits(tokens *tokens, json_object *expected, json_object *got)
{
    bool object = json_object_is_type(expected, json_type_object);
    if (object && json_object_is_type(got, json_type_object)) {
        return fits_object(tokens, expected, got);
    }
    json_object *from, *to;
    if (object && is_number(got) && json_object_object_get_ex(expected, "from", &from) &&
        json_object_object_get_ex(expected, "to", &to)) {
        uint64_t value = json_object_get_uint64(got);
        return json_object_get_uint64(from) <= value && value <= json_object_get_uint64(to);
    }
    if (is_number(expected) && is_number(got)) {
        return json_object_get_uint64(expected) == json_object_get_uint64(got);
    }
    return json_object_equal(expected, got);
}
