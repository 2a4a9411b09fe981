#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

#include "util/file.h"
#include "util/mem.h"

#include "decode.h"

/* libpng calls this on an error; it must not return. */
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
image_png_write(const char *path, const uint8_t *pixel, size_t width,
                size_t height, struct err *err)
{
    struct file_draft draft = {0};

    REQUIRE(width >= 1 && width <= OPAQUE_SIDE_MAX && height >= 1 &&
            height <= OPAQUE_SIDE_MAX);
    if (file_draft_open(&draft, path, err))
        return -1;
    if (!encode_png(draft.file, pixel, width, height, err))
        return file_draft_keep(&draft, err);
    if (ferror(draft.file))
        err_sys(err, "cannot write '%s'", path);
    file_draft_drop(&draft);
    return -1;
}

/* libpng leaves on errors by longjmp.  State that must survive it is in here,
 * not in local variables. */
struct reader {
    struct image_source *from;
    size_t at; /* bytes read */
    png_structp png;
    png_infop info;
    size_t channels;
    uint8_t *pixel; /* [height,width,channels] */
    uint8_t **row;  /* [height] addresses of the rows */
    struct err *err;
};

_Noreturn static void
fail_png_decoding(png_structp png, png_const_charp why)
{
    struct reader *reader = png_get_error_ptr(png);

    err_set(reader->err, "is damaged: %s", why);
    png_longjmp(png, 1);
}

static void
read_bytes(png_structp png, png_bytep to, size_t n)
{
    struct reader *reader = png_get_io_ptr(png);

    if (n > reader->from->len - reader->at)
        png_error(png, "cut off");
    memcpy(to, reader->from->bytes + reader->at, n);
    reader->at += n;
}

/* Reads all pixel formats as 8 bits of RGB or RGBA. */
static void
read_pixels(struct reader *reader)
{
    const size_t width = reader->from->width, height = reader->from->height;

    png_set_expand(reader->png);
    png_set_scale_16(reader->png);
    png_set_gray_to_rgb(reader->png);
    png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    reader->channels = png_get_channels(reader->png, reader->info);
    REQUIRE(reader->channels == 3 || reader->channels == 4);
    reader->pixel = mem_array(width * height, reader->channels);
    reader->row = mem_array(height, sizeof *reader->row);
    for (size_t y = 0; y < height; y++)
        reader->row[y] = reader->pixel + y * width * reader->channels;
    png_read_image(reader->png, reader->row);
    png_read_end(reader->png, NULL);
}

/* Runs everything that may longjmp. */
static int
run_reader(struct reader *reader)
{
    struct image_source *const from = reader->from;

    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader,
                                         fail_png_decoding, ignore_warning);
    reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
    if (!reader->info)
        return err_set(reader->err, "cannot start libpng");
    if (setjmp(png_jmpbuf(reader->png)))
        return -1;
    png_set_read_fn(reader->png, reader, read_bytes);
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(reader->png, reader->info);
    from->width = png_get_image_width(reader->png, reader->info);
    from->height = png_get_image_height(reader->png, reader->info);
    if (image_check_size(from->width, from->height, from->max_pixels,
                         reader->err))
        return -1;
    if (from->image)
        read_pixels(reader);
    return 0;
}

int
image_png_read(struct image_source *from, struct err *err)
{
    struct reader reader = {.from = from, .err = err};
    const int rc = run_reader(&reader);
    const size_t n = from->width * from->height;

    if (!rc && from->image) {
        image_size(from->image, from->width, from->height);
        if (reader.channels == 4)
            image_opaque_on_white(n, reader.pixel, from->image->pixel);
        else
            memcpy(from->image->pixel, reader.pixel, 3 * n);
    }
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    mem_free(reader.pixel, reader.row);
    return rc;
}
