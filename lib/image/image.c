#include <stdlib.h>

#include "util/mem.h"

#include "decode.h"
#include "scratch.h"

void
image_release(struct image *image)
{
    free(image->memory);
    *image = (struct image){0};
}

/*
 * libjpeg-turbo bypasses the caches when it writes a row at a multiple of 32
 * (16 without AVX2), so the next reader waits for memory.  Heap addresses may
 * or may not be such a multiple: small images took 11 to 13 us, or 8.  With an
 * offset of one byte they never are, and rows of an even width have odd
 * addresses, too.
 */
enum { ODD = 1 };

void
image_size(struct image *image, size_t width, size_t height)
{
    REQUIRE(height == 0 || width <= (SIZE_MAX - ODD) / 3 / height);
    mem_grow(&image->memory, &image->room, ODD + width * height * 3, 1);
    image->pixel = image->memory + ODD;
    image->width = width;
    image->height = height;
}

void
image_box_cover(struct image_box *box, const struct image_box *other)
{
    const size_t right = box->left + box->width;
    const size_t bottom = box->top + box->height;
    const size_t r = other->left + other->width;
    const size_t b = other->top + other->height;

    box->left = box->left < other->left ? box->left : other->left;
    box->top = box->top < other->top ? box->top : other->top;
    box->width = (right > r ? right : r) - box->left;
    box->height = (bottom > b ? bottom : b) - box->top;
}

struct image_scratch *
image_scratch(struct image_scratch **scratch)
{
    if (!*scratch)
        *scratch = mem_array(1, sizeof **scratch);
    return *scratch;
}

uint8_t *
image_scratch_bytes(struct image_scratch **scratch, int which, size_t n)
{
    struct image_scratch *s = image_scratch(scratch);

    mem_grow(&s->buffer[which].byte, &s->buffer[which].room, n, 1);
    return s->buffer[which].byte;
}

void
image_scratch_free(struct image_scratch *scratch)
{
    if (!scratch)
        return;
    for (int i = 0; i < IMAGE_BUFFERS; i++)
        free(scratch->buffer[i].byte);
    for (int i = 0; i < 2 * IMAGE_AXES; i++) {
        mem_free(scratch->axis[i / IMAGE_AXES][i % IMAGE_AXES].tap,
                 scratch->axis[i / IMAGE_AXES][i % IMAGE_AXES].weight);
    }
    free(scratch);
}

int
image_check_size(size_t width, size_t height, size_t max_pixels,
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
image_opaque_on_white(size_t n, const uint8_t *rgba, uint8_t *rgb)
{
    for (size_t i = 0; i < n; i++, rgba += 4, rgb += 3) {
        const unsigned a = rgba[3];

        for (size_t c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((rgba[c] * a + 255 * (255 - a) + 127) / 255);
    }
}
