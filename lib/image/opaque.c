#include "opaque.h"

int
data_opaque_judge(size_t width, size_t height, size_t max_pixels,
                  struct err *err)
{
    if (width > OPAQUE_SIDE_MAX || height > OPAQUE_SIDE_MAX)
        return err_set(err, "claims %zux%zu pixels, more than %d a side", width,
                       height, OPAQUE_SIDE_MAX);
    if (width * height > max_pixels)
        return err_set(
            err, "claims %zux%zu pixels, more than the %zu of --max-pixels",
            width, height, max_pixels);
    return 0;
}

void
data_opaque_on_white(size_t n, const uint8_t *rgba, uint8_t *rgb)
{
    for (size_t i = 0; i < n; i++, rgba += 4, rgb += 3) {
        const unsigned a = rgba[3];

        for (size_t c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((rgba[c] * a + 255 * (255 - a) + 127) / 255);
    }
}
