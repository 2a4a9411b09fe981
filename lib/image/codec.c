#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "util/mem.h"

#include "decode.h"

static int
read_webp(struct image_source *from, struct err *err)
{
    WebPBitstreamFeatures found;
    uint8_t *rgba, *pixel;
    size_t n;
    int good;

    if (WebPGetFeatures(from->bytes, from->len, &found) != VP8_STATUS_OK)
        return err_set(err, "is damaged");
    if (found.has_animation)
        return err_set(err, "is an animation");
    from->width = (size_t)found.width;
    from->height = (size_t)found.height;
    if (image_check_size(from->width, from->height, from->max_pixels, err))
        return -1;
    if (!from->image)
        return 0;
    n = from->width * from->height;
    image_size(from->image, from->width, from->height);
    pixel = from->image->pixel;
    if (found.has_alpha) {
        rgba = mem_array(n, 4);
        good = WebPDecodeRGBAInto(from->bytes, from->len, rgba, 4 * n,
                                  4 * found.width) != NULL;
        image_opaque_on_white(n, rgba, pixel);
        free(rgba);
    } else {
        good = WebPDecodeRGBInto(from->bytes, from->len, pixel, 3 * n,
                                 3 * found.width) != NULL;
    }
    return good ? 0 : err_set(err, "is damaged or cut off");
}

const char *
image_codec_name(enum image_codec codec)
{
    static const char *const name[] = {[IMAGE_CODEC_JPEG] = "jpeg",
                                       [IMAGE_CODEC_PNG] = "png",
                                       [IMAGE_CODEC_WEBP] = "webp",
                                       [IMAGE_CODEC_ROW] = "row"};

    REQUIRE(codec <= IMAGE_CODEC_ROW);
    return name[codec];
}

enum image_codec
image_codec_of(const uint8_t *bytes, size_t len)
{
    if (len >= 3 && !memcmp(bytes, "\xff\xd8\xff", 3))
        return IMAGE_CODEC_JPEG;
    if (len >= 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8))
        return IMAGE_CODEC_PNG;
    if (len >= 12 && !memcmp(bytes, "RIFF", 4) && !memcmp(bytes + 8, "WEBP", 4))
        return IMAGE_CODEC_WEBP;
    return IMAGE_CODECS;
}

static int
read_any(struct image_decoder **decoder, struct image_source *from,
         struct err *err)
{
    switch (image_codec_of(from->bytes, from->len)) {
    case IMAGE_CODEC_JPEG:
        return image_jpeg_read(decoder, from, err);
    case IMAGE_CODEC_PNG:
        return image_png_read(from, err);
    case IMAGE_CODEC_WEBP:
        return read_webp(from, err);
    case IMAGE_CODECS:
        break;
    }
    return err_set(err, "%s",
                   from->len ? "is not a JPEG, PNG or WebP image" : "is empty");
}

int
image_codec_decode(struct image_decoder **decoder, const uint8_t *bytes,
                   size_t len, size_t max_pixels, enum image_policy policy,
                   const struct image_region *region, struct image *image,
                   struct err *err)
{
    struct image_source from = {bytes,  len,   max_pixels, policy,
                                region, image, 0,          0};

    return read_any(decoder, &from, err);
}

int
image_codec_header(struct image_decoder **decoder, const uint8_t *bytes,
                   size_t len, size_t max_pixels, size_t *width, size_t *height,
                   struct err *err)
{
    struct image_source from = {.bytes = bytes,
                                .len = len,
                                .max_pixels = max_pixels,
                                .policy = IMAGE_ACCEPT};
    const int rc = read_any(decoder, &from, err);

    *width = from.width;
    *height = from.height;
    return rc;
}
