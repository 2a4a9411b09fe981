#pragma once

/* JPEGs of kinds that image_jpeg_encode() does not make. */
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "util/mem.h"

enum { W = 37, H = 21 }; // not multiples of a block

static uint8_t smooth[H * W * 4]; // what paint() made last

struct kind {
    int channels;
    J_COLOR_SPACE from, to;
    int progressive, single, subsample;
};

static inline void
paint(size_t channels)
{
    uint8_t *at = smooth;

    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (size_t c = 0; c < channels; c++)
                *at++ = (uint8_t)(40 + 3 * x + 2 * y + 25 * (int)c);
}

/* A scan for each coefficient of each component: legal, and far too many. */
static inline int
script(jpeg_scan_info scan[200])
{
    int n = 0;

    scan[n++] = (jpeg_scan_info){3, {0, 1, 2}, 0, 0, 0, 0};
    for (int c = 0; c < 3; c++)
        for (int k = 1; k < 64; k++)
            scan[n++] = (jpeg_scan_info){1, {c}, k, k, 0, 0};
    return n;
}

static inline struct data_bytes
write_kind(const struct kind *kind)
{
    static jpeg_scan_info scan[200];
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr error;
    unsigned char *out = NULL;
    unsigned long len = 0;

    paint((size_t)kind->channels);
    jpeg.err = jpeg_std_error(&error);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &len);
    jpeg.image_width = W;
    jpeg.image_height = H;
    jpeg.input_components = kind->channels;
    jpeg.in_color_space = kind->from;
    jpeg_set_defaults(&jpeg);
    jpeg_set_colorspace(&jpeg, kind->to);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (!kind->subsample)
        jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
    if (kind->progressive)
        jpeg_simple_progression(&jpeg);
    if (kind->single) {
        jpeg.num_scans = script(scan);
        jpeg.scan_info = scan;
    }
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < H) {
        JSAMPROW row =
            smooth + jpeg.next_scanline * W * (unsigned)kind->channels;

        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return (struct data_bytes){out, len, len};
}

/* Put an EXIF block that says `orientation` behind the first two bytes. */
static inline struct data_bytes
with_exif(const struct data_bytes *bytes, int orientation, int big)
{
    static const uint8_t little_endian[] = {
        0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0,    0, 'I', 'I',
        '*',  0,    8, 0,  0,   0,   1,   0,   0x12, 1, 3,   0,
        1,    0,    0, 0,  0,   0,   0,   0,   0,    0, 0,   0};
    static const uint8_t big_endian[] = {
        0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,    'M', 'M',
        0,    '*',  0, 0,  0,   8,   0,   1,   1, 0x12, 0,   3,
        0,    0,    0, 1,  0,   0,   0,   0,   0, 0,    0,   0};
    const size_t n = sizeof big_endian;
    struct data_bytes with = {mem_array(bytes->len + n, 1), bytes->len + n, 0};

    memcpy(with.data, bytes->data, 2);
    memcpy(with.data + 2, big ? big_endian : little_endian, n);
    with.data[2 + (big ? 29 : 28)] = (uint8_t)orientation;
    memcpy(with.data + 2 + n, bytes->data + 2, bytes->len - 2);
    return with;
}
