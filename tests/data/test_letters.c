/*
 * Text in pictures: letters of 5 x 7 dots.
 */
#include <string.h>

#include "data/letters.h"
#include "t.h"

enum { WIDTH = 40, HEIGHT = 16 };

static uint8_t pixel[HEIGHT * WIDTH * 3];

static void
write_text(const char *text, size_t most, size_t zoom)
{
    memset(pixel, 255, sizeof pixel);
    data_letters_write(text, most, zoom, WIDTH, pixel);
}

static int
black(size_t x, size_t y)
{
    return pixel[3 * (y * WIDTH + x)] == 0;
}

/* Counts black pixels of a part of the picture. */
static size_t
ink(size_t x, size_t y, size_t width, size_t height)
{
    size_t n = 0;

    for (size_t j = y; j < y + height; j++)
        for (size_t i = x; i < x + width; i++)
            n += (size_t)black(i, j);
    return n;
}

static void
draws_letters(void)
{
    write_text("L", 9, 1);
    T(ink(0, 0, 1, 7) == 7 && ink(0, 6, 5, 1) == 5 &&
          ink(0, 0, WIDTH, HEIGHT) == 11,
      "L: a column on the left and a row at the foot");
    write_text("LL", 9, 2);
    T(ink(0, 0, 2, 14) == 28 && ink(12, 0, 2, 14) == 28 &&
          ink(0, 0, WIDTH, HEIGHT) == 8 * 11,
      "enlarged, twelve pixels from letter to letter");
}

static void
letters_differ(void)
{
    static uint8_t drawn['~' + 1][sizeof pixel];
    size_t alike = 0, outside = 0;

    for (int c = ' '; c <= '~'; c++) {
        write_text((char[]){(char)c, 0}, 9, 1);
        memcpy(drawn[c], pixel, sizeof pixel);
        outside += ink(0, 0, WIDTH, HEIGHT) - ink(0, 0, 5, 7);
        for (int d = ' '; d < c; d++)
            alike += !memcmp(drawn[c], drawn[d], sizeof pixel);
    }
    T(!alike, "95 letters, no two alike");
    T(!outside, "each within its 5 x 7 dots");
}

static void
cuts_and_replaces(void)
{
    uint8_t wanted[sizeof pixel];

    T(data_letters_count("") == 0 && data_letters_count("caf\xc3\xa9") == 4,
      "a letter for each code point");
    write_text("caf?", 9, 1);
    memcpy(wanted, pixel, sizeof pixel);
    write_text("caf\xc3\xa9", 9, 1);
    T(!memcmp(wanted, pixel, sizeof pixel), "an unknown letter: '?'");
    write_text("tr..", 4, 1);
    memcpy(wanted, pixel, sizeof pixel);
    write_text("trousers", 4, 1);
    T(!memcmp(wanted, pixel, sizeof pixel), "a cut text ends in ..");
    write_text("tr", 0, 1);
    T(!ink(0, 0, WIDTH, HEIGHT), "without room nothing is written");
}

int
main(void)
{
    draws_letters();
    letters_differ();
    cuts_and_replaces();
    return t_done();
}
