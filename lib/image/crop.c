#include <math.h>

#include "util/err.h"

#include "crop.h"

enum { TRIES = 10 };

struct data_box
data_crop_centre(size_t width, size_t height, const double ratio[2])
{
    double own = (double)width / (double)height;
    size_t w = width, h = height;

    if (own < ratio[0])
        h = (size_t)rint((double)width / ratio[0]);
    else if (own > ratio[1])
        w = (size_t)rint((double)height * ratio[1]);
    h += !h; // an extreme ratio must leave something
    w += !w;
    return (struct data_box){(width - w) / 2, (height - h) / 2, w, h};
}

struct data_box
data_crop_draw(size_t width, size_t height, const double scale[2],
               const double ratio[2], struct rng *rng)
{
    const double all = (double)width * (double)height;

    REQUIRE(width && height);
    for (int i = 0; i < TRIES; i++) {
        double area = all * rng_range(rng, scale[0], scale[1]);
        double r = exp(rng_range(rng, log(ratio[0]), log(ratio[1])));
        double w = rint(sqrt(area * r)), h = rint(sqrt(area / r));

        if (w < 1 || w > (double)width || h < 1 || h > (double)height)
            continue;
        return (struct data_box){
            .left = rng_below(rng, width - (size_t)w + 1),
            .top = rng_below(rng, height - (size_t)h + 1),
            .width = (size_t)w,
            .height = (size_t)h,
        };
    }
    return data_crop_centre(width, height, ratio);
}
