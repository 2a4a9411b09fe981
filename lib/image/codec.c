#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

#include "image/codec.h"
#include "util/mem.h"

#include "decode.h"

static int
check_webp(const uint8_t *bytes, size_t len, size_t max_pixels,
           WebPBitstreamFeatures *found, struct err *err)
{
    if (WebPGetFeatures(bytes, len, found) != VP8_STATUS_OK)
        return err_set(err, "is damaged");
    if (found->has_animation)
        return err_set(err, "is an animation");
    return image_opaque_check((size_t)found->width, (size_t)found->height,
                              max_pixels, err);
}

static int
read_webp_header(const uint8_t *bytes, size_t len, size_t max_pixels,
                 size_t *width, size_t *height, struct err *err)
{
    WebPBitstreamFeatures found;

    if (check_webp(bytes, len, max_pixels, &found, err))
        return -1;
    *width = (size_t)found.width;
    *height = (size_t)found.height;
    return 0;
}

static int
decode_webp(const uint8_t *bytes, size_t len, size_t max_pixels,
            struct image *image, struct err *err)
{
    WebPBitstreamFeatures found;
    size_t width, n;
    uint8_t *rgba = NULL;
    int good;

    if (check_webp(bytes, len, max_pixels, &found, err))
        return -1;
    width = (size_t)found.width;
    n = width * (size_t)found.height;
    image_size(image, width, (size_t)found.height);
    if (found.has_alpha) {
        rgba = mem_array(n, 4);
        good = WebPDecodeRGBAInto(bytes, len, rgba, 4 * n, 4 * found.width) !=
               NULL;
        image_opaque_on_white(n, rgba, image->pixel);
        free(rgba);
    } else {
        good = WebPDecodeRGBInto(bytes, len, image->pixel, 3 * n,
                                 3 * found.width) != NULL;
    }
    return good ? 0 : err_set(err, "is damaged or cut off");
}

const char *
image_codec_name(enum image_codec codec)
{
    static const char *const name[] = {[IMAGE_CODEC_JPEG] = "jpeg",
                                       [IMAGE_CODEC_PNG] = "png",
                                       [IMAGE_CODEC_WEBP] = "webp"};

    REQUIRE(codec < IMAGE_CODECS);
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
no_image(size_t len, struct err *err)
{
    return err_set(err, "%s",
                   len ? "is not a JPEG, PNG or WebP image" : "is empty");
}

int
image_codec_decode(struct image_decoder **decoder, const uint8_t *bytes,
                   size_t len, size_t max_pixels, enum image_policy policy,
                   struct image *image, struct err *err)
{
    return image_codec_region(decoder, bytes, len, max_pixels, policy, NULL,
                              image, err);
}

int
image_codec_region(struct image_decoder **decoder, const uint8_t *bytes,
                   size_t len, size_t max_pixels, enum image_policy policy,
                   const struct image_region *region, struct image *image,
                   struct err *err)
{
    switch (image_codec_of(bytes, len)) {
    case IMAGE_CODEC_JPEG:
        return image_jpeg_region(decoder, bytes, len, max_pixels, policy,
                                 region, image, err);
    case IMAGE_CODEC_PNG:
        return image_png_decode(bytes, len, max_pixels, image, err);
    case IMAGE_CODEC_WEBP:
        return decode_webp(bytes, len, max_pixels, image, err);
    case IMAGE_CODECS:
        break;
    }
    return no_image(len, err);
}

int
image_codec_header(struct image_decoder **decoder, const uint8_t *bytes,
                   size_t len, size_t max_pixels, size_t *width, size_t *height,
                   struct err *err)
{
    switch (image_codec_of(bytes, len)) {
    case IMAGE_CODEC_JPEG:
        return image_jpeg_header(decoder, bytes, len, max_pixels, width, height,
                                 err);
    case IMAGE_CODEC_PNG:
        return image_png_header(bytes, len, max_pixels, width, height, err);
    case IMAGE_CODEC_WEBP:
        return read_webp_header(bytes, len, max_pixels, width, height, err);
    case IMAGE_CODECS:
        break;
    }
    return no_image(len, err);
}
