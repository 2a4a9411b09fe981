#include <string.h>

#include "image/color.h"
#include "t.h"

enum { MOST = 2200 };

/* Parts of a block, and blocks; later bytes are unchanged. */
int
main(void)
{
    static uint8_t all[3 * MOST + 64], was[3 * MOST + 64];
    size_t wrong = 0;

    for (size_t n = 1; n < MOST; n += 11) {
        for (size_t i = 0; i < sizeof all; i++)
            all[i] = was[i] = (uint8_t)(i * i / 7 + i);
        image_color_hue(n, 40.5 / 255, all);
        for (size_t i = 0; i < n; i++) {
            uint8_t one[3] = {was[i], was[n + i], was[2 * n + i]};

            image_color_hue(1, 40.5 / 255, one);
            for (size_t c = 0; c < 3; c++)
                wrong += one[c] != all[c * n + i];
        }
        wrong += memcmp(all + 3 * n, was + 3 * n, 64) != 0;
    }
    T(!wrong, "any number of pixels equals each by itself, without excess");
    return t_done();
}
