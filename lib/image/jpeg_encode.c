#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "image/jpeg.h"
#include "util/mem.h"

/* As in jpeg.c: what a jump out of libjpeg must not lose. */
struct encoder {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr error;
    struct jpeg_destination_mgr sink;
    struct data_bytes *bytes;
    jmp_buf failed;
    char why[JMSG_LENGTH_MAX];
};

_Noreturn static void
fail_jpeg_encoding(j_common_ptr jpeg)
{
    struct encoder *encoder = jpeg->client_data;

    jpeg->err->format_message(jpeg, encoder->why);
    longjmp(encoder->failed, 1);
}

static void
offer_room(struct encoder *encoder, size_t used)
{
    struct data_bytes *bytes = encoder->bytes;

    mem_grow(&bytes->data, &bytes->room, used + 4096, 1);
    encoder->sink.next_output_byte = bytes->data + used;
    encoder->sink.free_in_buffer = bytes->room - used;
}

static void
on_start(j_compress_ptr jpeg)
{
    offer_room(jpeg->client_data, 0);
}

/* libjpeg calls this when all of the room is used. */
static boolean
on_full(j_compress_ptr jpeg)
{
    struct encoder *encoder = jpeg->client_data;

    offer_room(encoder, encoder->bytes->room);
    return TRUE;
}

static void
on_end(j_compress_ptr jpeg)
{
    struct encoder *encoder = jpeg->client_data;

    encoder->bytes->len = encoder->bytes->room - encoder->sink.free_in_buffer;
}

static void
set_up(struct encoder *encoder, size_t width, size_t height, size_t channels,
       int quality)
{
    struct jpeg_compress_struct *jpeg = &encoder->jpeg;

    jpeg_create_compress(jpeg);
    jpeg->dest = &encoder->sink;
    jpeg->image_width = (JDIMENSION)width;
    jpeg->image_height = (JDIMENSION)height;
    jpeg->input_components = (int)channels;
    jpeg->in_color_space = channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg->optimize_coding = TRUE;
    jpeg->comp_info[0].h_samp_factor = 1; // 4:4:4
    jpeg->comp_info[0].v_samp_factor = 1;
}

int
data_jpeg_encode(const uint8_t *pixel, size_t width, size_t height,
                 size_t channels, int quality, struct data_bytes *bytes,
                 struct err *err)
{
    struct encoder encoder = {
        .sink = {.init_destination = on_start,
                 .empty_output_buffer = on_full,
                 .term_destination = on_end},
        .bytes = bytes,
    };

    REQUIRE(channels == 1 || channels == 3);
    REQUIRE(quality >= 1 && quality <= 100);
    if (width < 1 || height < 1 || width > JPEG_MAX_DIMENSION ||
        height > JPEG_MAX_DIMENSION)
        return err_set(err, "no JPEG can be %zux%zu", width, height);
    encoder.jpeg.err = jpeg_std_error(&encoder.error);
    encoder.error.error_exit = fail_jpeg_encoding;
    encoder.jpeg.client_data = &encoder;
    if (setjmp(encoder.failed)) {
        jpeg_destroy_compress(&encoder.jpeg);
        return err_set(err, "cannot encode: %s", encoder.why);
    }
    set_up(&encoder, width, height, channels, quality);
    jpeg_start_compress(&encoder.jpeg, TRUE);
    while (encoder.jpeg.next_scanline < height) {
        // libjpeg takes rows that are not const, and does not write to them
        JSAMPROW row =
            (JSAMPROW)(uintptr_t)(pixel + encoder.jpeg.next_scanline * width *
                                              channels);

        jpeg_write_scanlines(&encoder.jpeg, &row, 1);
    }
    jpeg_finish_compress(&encoder.jpeg);
    jpeg_destroy_compress(&encoder.jpeg);
    return 0;
}
