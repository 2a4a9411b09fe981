#include <stdlib.h>
#include <string.h>

#include "image/color.h"
#include "t.h"

enum { N = 65536 };

static uint8_t fast[3 * N], plain[3 * N];

/* All 2^24 colours, 64 Ki at a time; in an emulator a seventeenth of them. */
static void
all_colours_agree(int shift)
{
    const int step = t_emulated() ? 17 : 1;
    size_t wrong = 0;

    for (int red = 0; red < 256; red += step) {
        for (int i = 0; i < N; i++) {
            fast[i] = (uint8_t)red;
            fast[N + i] = (uint8_t)i;
            fast[2 * N + i] = (uint8_t)(i >> 8);
        }
        memcpy(plain, fast, sizeof plain);
        image_hue_turn(N, shift, fast);
        image_hue_plain(N, shift, plain);
        for (int i = 0; i < 3 * N; i++)
            wrong += fast[i] != plain[i];
    }
    T(!wrong, "by %d: all colours equal image_hue_plain()", shift);
}

/* Parts of a block, and blocks; later bytes are unchanged. */
static void
all_lengths_agree(void)
{
    int wrong = 0;

    for (size_t n = 1; n < 2200; n += 11) {
        for (size_t i = 0; i < 3 * n + 64; i++)
            fast[i] = plain[i] = (uint8_t)(i * i / 7 + i);
        image_hue_turn(n, 40, fast);
        image_hue_plain(n, 40, plain);
        wrong += memcmp(fast, plain, 3 * n + 64) != 0;
    }
    T(!wrong, "any number of pixels equals image_hue_plain(), without excess");
}

int
main(void)
{
    all_colours_agree(-127);
    all_colours_agree(0);
    all_colours_agree(29);
    all_lengths_agree();
    return t_done();
}
