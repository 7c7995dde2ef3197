/* Where the core module lies in a component. */
#include "internal.h"

/* "\0asm", version 13, layer 1: a component. */
static const uint8_t COMPONENT[] = {0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00};

#define CORE_MODULE_SECTION 1

/* Reads a number of at most 32 bits in LEB128; false where it is none. */
static bool read_size(il_bytes bytes, size_t *at, size_t *size)
{
    *size = 0;
    for (unsigned shift = 0; shift < 35 && *at < bytes.size; shift += 7) {
        uint8_t byte = bytes.data[(*at)++];
        *size |= (size_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return true;
        }
    }
    return false;
}

il_bytes il_core_module(il_bytes component)
{
    il_bytes none = {NULL, 0};
    if (component.size < sizeof COMPONENT ||
        memcmp(component.data, COMPONENT, sizeof COMPONENT) != 0) {
        return none;
    }
    for (size_t at = sizeof COMPONENT; at < component.size;) {
        uint8_t section = component.data[at++];
        size_t size;
        if (!read_size(component, &at, &size) || size > component.size - at) {
            return none;
        }
        if (section == CORE_MODULE_SECTION) {
            return il_data(component.data + at, size);
        }
        at += size;
    }
    return none;
}
