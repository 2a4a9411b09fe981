#include "json_number.h"

#include "util/mem.h"

char *
base64_encode(const uint8_t *bytes, size_t n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = mem_array((n + 2) / 3 * 4 + 1, 1), *to = text;

    for (size_t i = 0; i < n; i += 3) {
        const uint32_t second = i + 1 < n ? bytes[i + 1] : 0;
        const uint32_t third = i + 2 < n ? bytes[i + 2] : 0;
        const uint32_t all = (uint32_t)bytes[i] << 16 | second << 8 | third;

        *to++ = digits[all >> 18];
        *to++ = digits[all >> 12 & 63];
        *to++ = i + 1 < n ? digits[all >> 6 & 63] : '=';
        *to++ = i + 2 < n ? digits[all & 63] : '=';
    }
    *to = 0;
    return text;
}
