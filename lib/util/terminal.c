#include <sys/ioctl.h>
#include <unistd.h>

#include "util/terminal.h"

int
terminal_size(int fd, int *rows)
{
    struct winsize size = {0};
    int high;

    if (!isatty(fd))
        return 0;
    if (ioctl(fd, TIOCGWINSZ, &size))
        size = (struct winsize){0};
    high = size.ws_row ? size.ws_row : 24;
    if (rows)
        *rows = high;
    return size.ws_col ? size.ws_col : 80;
}
