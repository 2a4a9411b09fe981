#include <stdlib.h>

#include "image/image.h"
#include "util/err.h"
#include "util/mem.h"

void
data_image_release(struct data_image *image)
{
    free(image->memory);
    *image = (struct data_image){0};
}

/*
 * Where a row begins at a multiple of 32 (of 16 without AVX2), libjpeg-turbo
 * writes it past the caches, and whatever reads it next waits for memory.  What
 * the heap gives may be one or not, so that small images took 11 to 13 us or 8.
 * One byte further on it never is, and rows of an even width are odd like it.
 */
enum { ODD = 1 };

void
data_image_size(struct data_image *image, size_t width, size_t height)
{
    REQUIRE(height == 0 || width <= (SIZE_MAX - ODD) / 3 / height);
    mem_grow(&image->memory, &image->room, ODD + width * height * 3, 1);
    image->pixel = image->memory + ODD;
    image->width = width;
    image->height = height;
}

void
data_box_cover(struct data_box *box, const struct data_box *other)
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
