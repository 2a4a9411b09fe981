#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <png.h>

#include "child.h"
#include "image/codec.h"
#include "t.h"
#include "util/file.h"

enum { W = 7, H = 5 };

static struct err err;

static void
a_picture_is_read_back(void)
{
    uint8_t pixel[H * W * 3], back[H * W * 3];
    png_image image = {.version = PNG_IMAGE_VERSION};

    for (size_t i = 0; i < sizeof pixel; i++)
        pixel[i] = (uint8_t)(i * 37);
    T(!image_png_write("a.png", pixel, W, H, &err), "written");
    T(png_image_begin_read_from_file(&image, "a.png"), "libpng opens it");
    T(image.width == W && image.height == H, "the size is right");
    image.format = PNG_FORMAT_RGB;
    T(png_image_finish_read(&image, NULL, back, 0, NULL) &&
          !memcmp(pixel, back, sizeof pixel),
      "each pixel is right");
}

static void
a_full_disk_shows(void)
{
    uint8_t pixel[3] = {0};

    T(image_png_write("/dev/full", pixel, 1, 1, &err) == -1 &&
          strstr(err.msg, "/dev/full"),
      "%s", err.msg);
    T(image_png_write("no/a.png", pixel, 1, 1, &err) == -1, "%s", err.msg);
}

int
main(void)
{
    char folder[256];

    child_scratch(folder);
    a_picture_is_read_back();
    a_full_disk_shows();
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
