#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "util/mem.h"

#include "decode.h"

/* Encoding fails only without memory, as pixels are not damaged. */
_Noreturn static void
abort_jpeg_encoding(j_common_ptr jpeg)
{
    jpeg->err->output_message(jpeg);
    abort();
}

int
image_jpeg_encode(const uint8_t *pixel, size_t width, size_t height,
                  size_t channels, int quality, struct data_bytes *bytes,
                  struct err *err)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr error;
    unsigned char *out = NULL;
    unsigned long len = 0;

    REQUIRE(channels == 1 || channels == 3);
    REQUIRE(quality >= 1 && quality <= 100);
    if (width < 1 || height < 1 || width > JPEG_MAX_DIMENSION ||
        height > JPEG_MAX_DIMENSION)
        return err_set(err, "no JPEG can be %zux%zu", width, height);
    jpeg.err = jpeg_std_error(&error);
    error.error_exit = abort_jpeg_encoding;
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &len);
    jpeg.image_width = (JDIMENSION)width;
    jpeg.image_height = (JDIMENSION)height;
    jpeg.input_components = (int)channels;
    jpeg.in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg.optimize_coding = TRUE;
    jpeg.comp_info[0].h_samp_factor = 1; // 4:4:4
    jpeg.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < height) {
        // libjpeg takes rows that are not const, and does not write to them
        JSAMPROW row = (JSAMPROW)(uintptr_t)(pixel + jpeg.next_scanline *
                                                         width * channels);

        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    data_bytes_release(bytes);
    *bytes = (struct data_bytes){out, len, len};
    return 0;
}

enum {
    MAX_SCANS = 100, // a usual progressive file has about ten
    ROWS = 4,        // rows requested at a time: libjpeg returns one or two
    MARGIN = 4,      // columns around a region; upsampling reads fewer
    COLUMNS = 32,    // libjpeg converts so many at once; a remainder is slower
    SMALL = 1 << 14  // images of fewer pixels are always decoded whole
};

/* libjpeg leaves on errors by longjmp.  State that must survive it is in here,
 * not in local variables. */
struct image_decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr error;
    struct jpeg_progress_mgr progress;
    enum image_policy policy;
    jmp_buf failed;
    char why[JMSG_LENGTH_MAX];
    struct image stored;    // before the orientation is applied
    struct data_bytes inks; // rows of CMYK
};

_Noreturn static void
fail_jpeg(j_common_ptr jpeg)
{
    struct image_decoder *decoder = jpeg->client_data;

    jpeg->err->format_message(jpeg, decoder->why);
    longjmp(decoder->failed, 1);
}

_Noreturn static void
fail_because(struct image_decoder *decoder, const char *why)
{
    snprintf(decoder->why, sizeof decoder->why, "%s", why);
    longjmp(decoder->failed, 1);
}

/* A level below zero is a warning about damaged data. */
static void
refuse_damage(j_common_ptr jpeg, int level)
{
    const struct image_decoder *decoder = jpeg->client_data;

    if (level < 0 && decoder->policy == IMAGE_REFUSE)
        fail_jpeg(jpeg);
}

/* Each scan of a progressive file costs time for the whole image. */
static void
on_progress(j_common_ptr jpeg)
{
    struct image_decoder *decoder = jpeg->client_data;

    if (decoder->jpeg.input_scan_number > MAX_SCANS)
        fail_because(decoder, "has more than 100 scans");
}

/* Makes a decompressor and reads the header.  Each file has a new decompressor:
 * a reused one would apply the tables of the last file to a file without
 * tables. */
static void
begin_jpeg(struct image_decoder *decoder, struct image_source *from)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    struct err why;

    jpeg_create_decompress(jpeg);
    jpeg->progress = &decoder->progress;
    jpeg_save_markers(jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_mem_src(jpeg, from->bytes, from->len);
    jpeg_read_header(jpeg, TRUE);
    from->width = jpeg->image_width;
    from->height = jpeg->image_height;
    if (image_check_size(from->width, from->height, from->max_pixels, &why))
        fail_because(decoder, why.msg);
    if (jpeg->num_components == 2 || jpeg->num_components > 4)
        fail_because(decoder, "is neither grey nor RGB nor CMYK");
}

static int
orientation_of(const struct jpeg_decompress_struct *jpeg)
{
    for (jpeg_saved_marker_ptr m = jpeg->marker_list; m; m = m->next) {
        int orientation = image_exif_orientation(m->data, m->data_length);

        if (orientation != 1)
            return orientation;
    }
    return 1;
}

/* Decodes the rows before `end` to `out`, `stride` bytes apart. */
static void
read_jpeg_rows(struct jpeg_decompress_struct *jpeg, JDIMENSION end,
               uint8_t *out, size_t stride)
{
    while (jpeg->output_scanline < end) {
        JDIMENSION n = end - jpeg->output_scanline;
        JSAMPROW row[ROWS];

        if (n > ROWS)
            n = ROWS;
        for (JDIMENSION i = 0; i < n; i++)
            row[i] = out + (jpeg->output_scanline + i) * stride;
        jpeg_read_scanlines(jpeg, row, n);
    }
}

/* Returns the box of a region, or the whole image if a partial decode is not
 * possible or does not pay: rows before and after it are read, too, and so are
 * whole MCUs. */
static struct image_box
box_to_read(struct jpeg_decompress_struct *jpeg,
            const struct image_region *region)
{
    const size_t w = jpeg->image_width, h = jpeg->image_height;
    struct image_box box = {0, 0, w, h};

    if (!region || jpeg->num_components == 4 || w * h < SMALL ||
        jpeg_has_multiple_scans(jpeg))
        return box;
    box = region->box(region->of, w, h);
    REQUIRE(box.width && box.left + box.width <= w);
    REQUIRE(box.height && box.top + box.height <= h);
    if (10 * box.width * box.height > 9 * w * h)
        box = (struct image_box){0, 0, w, h};
    return box;
}

/* Decodes a box of the image.  If all rows after it were skipped, libjpeg would
 * not read their data: so the last row is decoded, too, and damage before it is
 * detected. */
static void
read_box(struct jpeg_decompress_struct *jpeg, const struct image_box *box,
         struct image *image)
{
    const size_t w = image->width, end = box->left + box->width + MARGIN;
    const JDIMENSION last = jpeg->output_height - 1;
    const JDIMENSION bottom = (JDIMENSION)(box->top + box->height);
    JDIMENSION left = 0, width = (JDIMENSION)w;

    if (box->width < w) {
        left = box->left < MARGIN ? 0 : (JDIMENSION)box->left - MARGIN;
        left -= left % COLUMNS;
        width = ((JDIMENSION)end - left + COLUMNS - 1) / COLUMNS * COLUMNS;
        width = left + width < w ? width : (JDIMENSION)w - left;
        jpeg_crop_scanline(jpeg, &left, &width);
    }
    if (box->top)
        jpeg_skip_scanlines(jpeg, (JDIMENSION)box->top);
    read_jpeg_rows(jpeg, bottom, image->pixel + 3 * left, 3 * w);
    if (bottom < last)
        jpeg_skip_scanlines(jpeg, last - bottom);
    read_jpeg_rows(jpeg, last + 1, image->pixel + 3 * left, 3 * w);
}

static void
read_image(struct image_decoder *decoder, const struct image_region *region,
           struct image *image)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    const size_t w = jpeg->image_width, h = jpeg->image_height;
    const int inks = jpeg->num_components == 4;
    const struct image_box box = box_to_read(jpeg, region);

    jpeg->out_color_space = inks ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(jpeg);
    image_size(image, w, h);
    if (inks) {
        mem_grow(&decoder->inks.data, &decoder->inks.room, w * h * 4, 1);
        read_jpeg_rows(jpeg, jpeg->output_height, decoder->inks.data, w * 4);
        for (size_t i = 0; i < 3 * w * h; i++) { // ink by black, rounded
            const uint8_t *cmyk = decoder->inks.data + i / 3 * 4;

            image->pixel[i] = (uint8_t)((cmyk[i % 3] * cmyk[3] + 127) / 255);
        }
    } else {
        read_box(jpeg, &box, image);
    }
    jpeg_finish_decompress(jpeg);
}

int
image_jpeg_read(struct image_decoder **reused, struct image_source *from,
                struct err *err)
{
    struct image_decoder *decoder =
        *reused ? *reused : mem_array(1, sizeof *decoder);
    int orientation;

    *reused = decoder;
    decoder->policy = from->policy;
    decoder->jpeg.err = jpeg_std_error(&decoder->error);
    decoder->error.error_exit = fail_jpeg;
    decoder->error.emit_message = refuse_damage;
    decoder->progress.progress_monitor = on_progress;
    decoder->jpeg.client_data = decoder;
    if (setjmp(decoder->failed)) {
        jpeg_destroy_decompress(&decoder->jpeg);
        return err_set(err, "%s", decoder->why);
    }
    begin_jpeg(decoder, from);
    orientation = orientation_of(&decoder->jpeg);
    if (from->image && orientation == 1) {
        read_image(decoder, from->region, from->image);
    } else if (from->image) {
        read_image(decoder, NULL, &decoder->stored);
        image_exif_apply(orientation, &decoder->stored, from->image);
    }
    jpeg_destroy_decompress(&decoder->jpeg);
    return 0;
}

void
image_jpeg_free(struct image_decoder *decoder)
{
    if (!decoder)
        return;
    image_release(&decoder->stored);
    data_bytes_release(&decoder->inks);
    free(decoder);
}
