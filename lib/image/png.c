#include <setjmp.h>
#include <stdio.h>

#include <png.h>

#include "image/png.h"
#include "util/file.h"

enum { MOST = 65535 };

/* libpng jumps out of errors, and wants a message to go with the jump. */
_Noreturn static void
fail_png(png_structp png, png_const_charp why)
{
    err_set(png_get_error_ptr(png), "cannot make a PNG: %s", why);
    png_longjmp(png, 1);
}

static void
ignore_warning(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static int
encode_png(FILE *file, const uint8_t *pixel, size_t width, size_t height,
           struct err *err)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, err,
                                              fail_png, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;

    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return err_set(err, "cannot start libpng");
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return -1;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (size_t y = 0; y < height; y++)
        png_write_row(png, pixel + y * width * 3);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return 0;
}

int
data_png_write(const char *path, const uint8_t *pixel, size_t width,
               size_t height, struct err *err)
{
    struct file_draft draft = {0};

    REQUIRE(width >= 1 && width <= MOST && height >= 1 && height <= MOST);
    if (file_draft_open(&draft, path, err))
        return -1;
    if (!encode_png(draft.file, pixel, width, height, err))
        return file_draft_keep(&draft, err);
    if (ferror(draft.file))
        err_sys(err, "cannot write '%s'", path);
    file_draft_drop(&draft);
    return -1;
}
