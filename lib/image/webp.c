#include <stdlib.h>

#include <webp/decode.h>

#include "util/mem.h"

#include "opaque.h"
#include "webp.h"

static int
read_header(const uint8_t *bytes, size_t len, size_t max_pixels,
            WebPBitstreamFeatures *found, struct err *err)
{
    if (WebPGetFeatures(bytes, len, found) != VP8_STATUS_OK)
        return err_set(err, "is damaged");
    if (found->has_animation)
        return err_set(err, "is an animation");
    return data_opaque_judge((size_t)found->width, (size_t)found->height,
                             max_pixels, err);
}

int
data_webp_header(const uint8_t *bytes, size_t len, size_t max_pixels,
                 size_t *width, size_t *height, struct err *err)
{
    WebPBitstreamFeatures found;

    if (read_header(bytes, len, max_pixels, &found, err))
        return -1;
    *width = (size_t)found.width;
    *height = (size_t)found.height;
    return 0;
}

int
data_webp_decode(const uint8_t *bytes, size_t len, size_t max_pixels,
                 struct data_image *image, struct err *err)
{
    WebPBitstreamFeatures found;
    size_t width, n;
    uint8_t *rgba = NULL;
    int good;

    if (read_header(bytes, len, max_pixels, &found, err))
        return -1;
    width = (size_t)found.width;
    n = width * (size_t)found.height;
    data_image_size(image, width, (size_t)found.height);
    if (found.has_alpha) {
        rgba = mem_array(n, 4);
        good = WebPDecodeRGBAInto(bytes, len, rgba, 4 * n, 4 * found.width) !=
               NULL;
        data_opaque_on_white(n, rgba, image->pixel);
        free(rgba);
    } else {
        good = WebPDecodeRGBInto(bytes, len, image->pixel, 3 * n,
                                 3 * found.width) != NULL;
    }
    return good ? 0 : err_set(err, "is damaged or cut off");
}
