/* Pictures that are written: libpng reads the same pixels. */
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "fuzz/scratch.h"
#include "image/codec.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Two bytes are the size, the others are pixels, again and again. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const size_t width = len > 0 ? 1 + data[0] : 1;
    const size_t height = len > 1 ? 1 + data[1] % 32 : 1;
    uint8_t *pixel = mem_array(width * height, 3);
    uint8_t *back = mem_array(width * height, 3);
    char *path = scratch_put(0, "", 0);
    png_image image = {.version = PNG_IMAGE_VERSION};
    struct err err;

    for (size_t i = 0; len > 2 && i < width * height * 3; i++)
        pixel[i] = data[2 + i % (len - 2)];
    REQUIRE(!image_png_write(path, pixel, width, height, &err));
    REQUIRE(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_RGB;
    REQUIRE(image.width == width && image.height == height);
    REQUIRE(png_image_finish_read(&image, NULL, back, 0, NULL));
    REQUIRE(!memcmp(pixel, back, width * height * 3));
    free(pixel);
    free(back);
    return 0;
}
