#include <string.h>
#include <unistr.h>

#include "util/defuse.h"

void
defuse(char *text)
{
    uint8_t *at = (uint8_t *)text;

    while (*at) {
        ucs4_t c;
        const int n = u8_mbtoucr(&c, at, strnlen((char *)at, 4));
        const int safe = n > 0 && c >= ' ' && (c < 0x7f || c >= 0xa0) &&
                         (c < 0x202a || c > 0x202e) &&
                         (c < 0x2066 || c > 0x2069);

        if (!safe)
            *at = *at == '\t' ? ' ' : '?';
        at += safe ? n : 1;
    }
}
