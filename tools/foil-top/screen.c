#define _DEFAULT_SOURCE // _POSIX_VDISABLE with c_cc
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "top.h"
#include "util/opt.h"

static struct termios before;
static int is_open;

void
top_screen_close(void)
{
    if (!is_open)
        return;
    is_open = 0;
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

void
top_screen_open(void)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &before))
        die("standard input is no terminal: --once prints without one");
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE; // Ctrl-Z would leave the screen as it is
    is_open = 1;
    atexit(top_screen_close);
    if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
        die("cannot set up the terminal");
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
}

/* Draws over the old lines, to avoid flicker; no line end after the last one,
 * as that would scroll. */
void
top_screen_show(const char *text)
{
    fputs("\033[H", stdout);
    for (; *text; text++)
        if (*text == '\n')
            fputs(text[1] ? "\033[K\r\n" : "\033[K", stdout);
        else
            putchar(*text);
    fputs("\033[J", stdout);
    fflush(stdout);
}

int
top_screen_key(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    char key;

    if (poll(&in, 1, 0) <= 0 || read(STDIN_FILENO, &key, 1) != 1)
        return 0;
    return key;
}
