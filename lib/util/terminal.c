#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <unistr.h>

#include "util/terminal.h"

int
terminal_size(int fd, int *rows)
{
    struct winsize size;

    if (!isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size))
        size = (struct winsize){0};
    if (rows)
        *rows = size.ws_row ? size.ws_row : 24;
    return size.ws_col ? size.ws_col : 80;
}

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
