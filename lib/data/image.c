#include <stdlib.h>

#include "data/image.h"
#include "util/err.h"
#include "util/mem.h"

void
data_image_release(struct data_image *image)
{
    free(image->pixel);
    *image = (struct data_image){0};
}

void
data_image_size(struct data_image *image, size_t width, size_t height)
{
    REQUIRE(height == 0 || width <= SIZE_MAX / 3 / height);
    mem_grow(&image->pixel, &image->room, width * height * 3, 1);
    image->width = width;
    image->height = height;
}
