#include <stddef.h>
#include <stdint.h>

#include "util/defuse.h"

/* Returns 1 for a character that changes the direction of the text after it. */
static int
changes_direction(uint32_t c)
{
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Returns the length of the UTF-8 character that begins here; 0 if it is
 * invalid or unsafe. */
static size_t
character_length(const unsigned char *at)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t n = at[0] < 0x80   ? 1
                     : at[0] < 0xc0 ? 0
                     : at[0] < 0xe0 ? 2
                     : at[0] < 0xf0 ? 3
                     : at[0] < 0xf8 ? 4
                                    : 0;
    uint32_t c = n > 1 ? at[0] & (0x7fu >> n) : at[0];

    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80) // the end of the text, too
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    if (!n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    if (c < ' ' || (c >= 0x7f && c < 0xa0) || changes_direction(c))
        return 0;
    return n;
}

void
defuse(char *text)
{
    unsigned char *at = (unsigned char *)text;

    while (*at) {
        const size_t n = character_length(at);

        if (!n)
            *at = *at == '\t' ? ' ' : '?';
        at += n ? n : 1;
    }
}
