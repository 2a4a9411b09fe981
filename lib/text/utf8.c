#include "text/utf8.h"

/* How many bytes a first byte promises, and between which bytes the second
 * lies; the others lie between 0x80 and 0xbf. */
static size_t
length_by_first_byte(uint8_t first, uint8_t *low, uint8_t *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if (first >= 0xe0 && first < 0xf0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

size_t
data_utf8_next(const void *text, size_t len, uint32_t *c)
{
    const uint8_t *byte = text;
    uint8_t low, high;
    const size_t want = length_by_first_byte(byte[0], &low, &high);
    size_t have = 1;

    *c = want == 1 ? byte[0] : UTF8_BAD;
    if (want <= 1)
        return 1;
    *c = byte[0] & (0x7fu >> want);
    while (have < want && have < len && byte[have] >= low &&
           byte[have] <= high) {
        *c = *c << 6 | (byte[have++] & 0x3fu);
        low = 0x80;
        high = 0xbf;
    }
    if (have < want)
        *c = UTF8_BAD;
    return have;
}

size_t
data_utf8_cut(const void *text, size_t len, size_t most)
{
    const uint8_t *byte = text;
    uint32_t c;

    if (len <= most)
        return len;
    for (size_t back = 1; back <= 3 && back <= most; back++)
        if (byte[most - back] >= 0xc0)
            return data_utf8_next(byte + most - back, len - (most - back), &c) >
                           back
                       ? most - back
                       : most;
    return most;
}
