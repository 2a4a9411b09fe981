#ifndef DATA_IMAGE_H
#define DATA_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* Pixels: 8-bit RGB, row-major, packed: pixel[(y * width + x) * 3 + c]. */
struct data_image {
    uint8_t *pixel;
    size_t width, height;
    size_t room; /* bytes allocated */
};

/* data_image_release() frees the pixels; the image is empty again. */
void data_image_release(struct data_image *image);

/* data_image_size() makes room for width x height; the content is undefined. */
void data_image_size(struct data_image *image, size_t width, size_t height);

#endif
