#include "internal.h"

/* How many bytes follow `lead`, and the least character that needs so many; -1 for no lead. */
static int followers(uint8_t lead, uint32_t *least)
{
    if (lead < 0x80) {
        *least = 0;
        return 0;
    }
    if (lead >= 0xc0 && lead < 0xe0) {
        *least = 0x80;
        return 1;
    }
    if (lead >= 0xe0 && lead < 0xf0) {
        *least = 0x800;
        return 2;
    }
    if (lead >= 0xf0 && lead < 0xf8) {
        *least = 0x10000;
        return 3;
    }
    return -1;
}

bool il_is_utf8(il_text text)
{
    const uint8_t *bytes = (const uint8_t *)text.data;
    for (size_t at = 0; at < text.size;) {
        uint32_t least;
        int more = followers(bytes[at], &least);
        if (more < 0 || text.size - at <= (size_t)more) {
            return false;
        }
        uint32_t letter = more == 0 ? bytes[at] : bytes[at] & (0x3fu >> more);
        for (int next = 1; next <= more; next++) {
            uint8_t byte = bytes[at + (size_t)next];
            if ((byte & 0xc0) != 0x80) {
                return false;
            }
            letter = letter << 6 | (byte & 0x3f);
        }
        bool surrogate = letter >= 0xd800 && letter < 0xe000;
        if (letter < least || letter > 0x10ffff || surrogate) {
            return false;
        }
        at += (size_t)more + 1;
    }
    return true;
}
