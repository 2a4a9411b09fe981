#ifndef IMAGE_PNG_H
#define IMAGE_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * image_png_write() writes an 8-bit RGB picture as PNG, all or nothing.
 *   pixel [height,width,3]; width, height 1 .. 65535
 */
int image_png_write(const char *path, const uint8_t *pixel, size_t width,
                    size_t height, struct err *err);

#endif
