#include <string.h>

#include "letters.h"

enum { FIRST = ' ', LAST = '~', CHANNELS = 3 };

/* The rows of dots of each letter, a byte each, the top row first; bit 4 is the
 * leftmost dot. */
static const uint64_t dots[LAST - FIRST + 1] = {
    0x00000000000000, 0x04040404040004, 0x0a0a0000000000, 0x0a0a1f0a1f0a0a,
    0x040f140e051e04, 0x18190204081303, 0x0c12140815120d, 0x04040000000000,
    0x02040808080402, 0x08040202020408, 0x0004150e150400, 0x0004041f040400,
    0x000000000c0408, 0x0000001f000000, 0x00000000000c0c, 0x00010204081000,
    0x0e11131519110e, 0x040c040404040e, 0x0e11010204081f, 0x1f02040201110e,
    0x02060a121f0202, 0x1f101e0101110e, 0x0608101e11110e, 0x1f010204080808,
    0x0e11110e11110e, 0x0e11110f01020c, 0x000c0c000c0c00, 0x000c0c000c0408,
    0x02040810080402, 0x00001f001f0000, 0x08040201020408, 0x0e110102040004,
    0x0e11010d15150e, 0x0e11111f111111, 0x1e11111e11111e, 0x0e11101010110e,
    0x1e11111111111e, 0x1f10101e10101f, 0x1f10101e101010, 0x0e11101711110f,
    0x1111111f111111, 0x0e04040404040e, 0x0702020202120c, 0x11121418141211,
    0x1010101010101f, 0x111b1515111111, 0x11111915131111, 0x0e11111111110e,
    0x1e11111e101010, 0x0e11111115120d, 0x1e11111e141211, 0x0f10100e01011e,
    0x1f040404040404, 0x1111111111110e, 0x11111111110a04, 0x1111111515150a,
    0x11110a040a1111, 0x11110a04040404, 0x1f01020408101f, 0x0e08080808080e,
    0x00100804020100, 0x0e02020202020e, 0x040a1100000000, 0x0000000000001f,
    0x08040200000000, 0x00000e010f110f, 0x1010161911111e, 0x00000e1010110e,
    0x01010d1311110f, 0x00000e111f100e, 0x0609081c080808, 0x000f11110f010e,
    0x10101619111111, 0x04000c0404040e, 0x0200060202120c, 0x10101214181412,
    0x0c04040404040e, 0x00001a15151111, 0x00001619111111, 0x00000e1111110e,
    0x00001e111e1010, 0x00000d130f0101, 0x00001619101010, 0x00000e100e011e,
    0x08081c08080906, 0x0000111111130d, 0x00001111110a04, 0x0000111115150a,
    0x0000110a040a11, 0x000011110f010e, 0x00001f0204081f, 0x02040408040402,
    0x04040404040404, 0x08040402040408, 0x00000815020000};

/* Returns 1 for the second and later bytes of a code point. */
static int
is_continuation(char c)
{
    return (c & 0xc0) == 0x80;
}

size_t
data_letters_count(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += !is_continuation(*text);
    return n;
}

void
data_letters_write(const char *text, size_t most, size_t zoom, size_t width,
                   uint8_t *pixel)
{
    const size_t n = data_letters_count(text), shown = n < most ? n : most;

    for (size_t i = 0; i < shown; text++) {
        const char c = n > most && i + 2 >= most ? '.' : *text;
        const uint64_t rows = dots[(c >= FIRST && c <= LAST ? c : '?') - FIRST];

        if (is_continuation(*text))
            continue;
        for (size_t y = 0; y < zoom * LETTER_HEIGHT; y++)
            for (size_t x = 0; x < zoom * LETTER_WIDTH; x++)
                if (rows >> (8 * (LETTER_HEIGHT - y / zoom) - 4 - x / zoom) & 1)
                    memset(pixel + CHANNELS * (y * width + x), 0, CHANNELS);
        pixel += CHANNELS * zoom * LETTER_STEP;
        i++;
    }
}
