#include <string.h>

#include "image/codec.h"

#include "png_decode.h"
#include "webp.h"

const char *
data_codec_name(enum data_codec codec)
{
    static const char *const name[] = {[DATA_CODEC_JPEG] = "jpeg",
                                       [DATA_CODEC_PNG] = "png",
                                       [DATA_CODEC_WEBP] = "webp"};

    REQUIRE(codec < DATA_CODECS);
    return name[codec];
}

enum data_codec
data_codec_of(const uint8_t *bytes, size_t len)
{
    if (len >= 3 && !memcmp(bytes, "\xff\xd8\xff", 3))
        return DATA_CODEC_JPEG;
    if (len >= 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8))
        return DATA_CODEC_PNG;
    if (len >= 12 && !memcmp(bytes, "RIFF", 4) && !memcmp(bytes + 8, "WEBP", 4))
        return DATA_CODEC_WEBP;
    return DATA_CODECS;
}

static int
no_image(size_t len, struct err *err)
{
    return err_set(err, "%s",
                   len ? "is not a JPEG, PNG or WebP image" : "is empty");
}

int
data_codec_decode(struct data_decoder **decoder, const uint8_t *bytes,
                  size_t len, size_t max_pixels, enum data_policy policy,
                  struct data_image *image, struct err *err)
{
    return data_codec_region(decoder, bytes, len, max_pixels, policy, NULL,
                             image, err);
}

int
data_codec_region(struct data_decoder **decoder, const uint8_t *bytes,
                  size_t len, size_t max_pixels, enum data_policy policy,
                  const struct data_region *region, struct data_image *image,
                  struct err *err)
{
    switch (data_codec_of(bytes, len)) {
    case DATA_CODEC_JPEG:
        return data_jpeg_region(decoder, bytes, len, max_pixels, policy, region,
                                image, err);
    case DATA_CODEC_PNG:
        return data_png_decode(bytes, len, max_pixels, image, err);
    case DATA_CODEC_WEBP:
        return data_webp_decode(bytes, len, max_pixels, image, err);
    case DATA_CODECS:
        break;
    }
    return no_image(len, err);
}

int
data_codec_header(struct data_decoder **decoder, const uint8_t *bytes,
                  size_t len, size_t max_pixels, size_t *width, size_t *height,
                  struct err *err)
{
    switch (data_codec_of(bytes, len)) {
    case DATA_CODEC_JPEG:
        return data_jpeg_header(decoder, bytes, len, max_pixels, width, height,
                                err);
    case DATA_CODEC_PNG:
        return data_png_header(bytes, len, max_pixels, width, height, err);
    case DATA_CODEC_WEBP:
        return data_webp_header(bytes, len, max_pixels, width, height, err);
    case DATA_CODECS:
        break;
    }
    return no_image(len, err);
}
