#include <sys/ioctl.h>
#include <unistd.h>

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
