#include <math.h>
#include <string.h>

#include "image/view.h"
#include "util/err.h"
#include "util/rng.h"

#include "blur.h"
#include "color.h"
#include "randaugment.h"
#include "resize.h"
#include "scratch.h"

enum step { BRIGHTNESS, CONTRAST, SATURATION, HUE, STEPS };

/* The random choices of one view. */
struct draw {
    struct image_box box;
    int flip, jitter, grey, blur;
    double amount[STEPS]; /* three factors, and the rotation of the hue */
    int64_t order[STEPS];
    double sigma;
    size_t ops; /* operations to apply */
    struct image_op op[IMAGE_OPS_MAX];
};

static struct image_box
draw_box(const struct image_recipe *recipe, size_t width, size_t height,
         struct rng *rng)
{
    return image_crop_draw(
        width, height, (const double[]){recipe->scale_min, recipe->scale_max},
        (const double[]){recipe->ratio_min, recipe->ratio_max}, rng);
}

static void
draw_all(const struct image_recipe *recipe, const struct image *image,
         struct rng *rng, struct draw *draw)
{
    const double wide[] = {recipe->brightness, recipe->contrast,
                           recipe->saturation};

    draw->box = draw_box(recipe, image->width, image->height, rng);
    draw->flip = rng_unit(rng) < recipe->flip;
    draw->jitter = rng_unit(rng) < recipe->jitter;
    for (int i = BRIGHTNESS; i < HUE; i++)
        draw->amount[i] = rng_range(rng, fmax(0, 1 - wide[i]), 1 + wide[i]);
    draw->amount[HUE] = rng_range(rng, -recipe->hue, recipe->hue);
    for (int i = 0; i < STEPS; i++)
        draw->order[i] = i;
    rng_shuffle(rng, STEPS, draw->order);
    draw->grey = rng_unit(rng) < recipe->grey;
    draw->blur = rng_unit(rng) < recipe->blur;
    draw->sigma = rng_range(rng, recipe->sigma_min, recipe->sigma_max);
    draw->ops = 0;
    for (size_t i = 0; i < recipe->ops; i++) {
        struct image_op *op = draw->op + draw->ops;

        op->kind = (enum image_op_kind)rng_below(rng, recipe->op_kinds);
        op->negative = rng_unit(rng) < 0.5;
        draw->ops += rng_unit(rng) < recipe->op_rate;
    }
}

static void
jitter_colors(const struct image_recipe *recipe, const struct draw *draw,
              size_t n, uint8_t *plane)
{
    for (int i = 0; i < STEPS; i++) {
        enum step step = (enum step)draw->order[i];
        double amount = draw->amount[step];

        if (step == BRIGHTNESS && recipe->brightness > 0)
            image_color_brightness(n, amount, plane);
        else if (step == CONTRAST && recipe->contrast > 0)
            image_color_contrast(n, amount, plane);
        else if (step == SATURATION && recipe->saturation > 0)
            image_color_saturation(n, amount, plane);
        else if (step == HUE && recipe->hue > 0)
            image_color_hue(n, amount, plane);
    }
}

static void
blur_planes(const struct image_recipe *recipe, const struct draw *draw,
            uint8_t *plane, struct image_scratch **scratch)
{
    const size_t size = recipe->size, n = size * size;

    for (size_t c = 0; c < 3; c++) {
        if (c && draw->grey) // all planes are equal
            memcpy(plane + c * n, plane, n);
        else if (recipe->taps)
            image_blur_kernel(size, size, recipe->taps, draw->sigma,
                              plane + c * n, scratch);
        else
            image_blur_box(size, size, draw->sigma, plane + c * n, scratch);
    }
}

struct image_box
image_view_box(const struct image_recipe *recipe, size_t width, size_t height,
               uint64_t seed, uint64_t sample, uint64_t epoch, uint64_t view)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_VIEW, sample, epoch, view);
    return draw_box(recipe, width, height, &rng);
}

void
image_view(const struct image_recipe *recipe, const struct image *image,
           uint64_t seed, uint64_t sample, uint64_t epoch, uint64_t view,
           struct image_scratch **scratch, uint8_t *out)
{
    const size_t size = recipe->size, n = size * size;
    struct draw draw;
    struct rng rng;
    uint8_t *plane;

    rng_init(&rng, seed, RNG_VIEW, sample, epoch, view);
    draw_all(recipe, image, &rng, &draw);
    image_resize(image, &draw.box, size, size, NULL, draw.flip, scratch, out);
    if (!draw.jitter && !draw.grey && !draw.blur && !draw.ops)
        return;
    plane = image_scratch_bytes(scratch, IMAGE_PLANES, 3 * n);
    image_color_split(n, out, plane);
    for (size_t i = 0; i < draw.ops; i++)
        image_randaugment(draw.op[i], recipe->magnitude, size, plane, scratch);
    if (draw.jitter)
        jitter_colors(recipe, &draw, n, plane);
    if (draw.grey)
        image_color_grey(n, plane);
    if (draw.blur)
        blur_planes(recipe, &draw, plane, scratch);
    image_color_merge(n, plane, out);
}

void
image_plain(size_t size, const struct image *image,
            struct image_scratch **scratch, uint8_t *out)
{
    const size_t w = image->width, h = image->height;

    REQUIRE(size && w && h); // divisors below

    const size_t width = w < h ? size : size * w / h;
    const size_t height = h < w ? size : size * h / w;
    const struct image_box all = {0, 0, w, h};
    const struct image_box part = {
        .left = (size_t)rint((double)(width - size) / 2),
        .top = (size_t)rint((double)(height - size) / 2),
        .width = size,
        .height = size,
    };

    image_resize(image, &all, width, height, &part, 0, scratch, out);
}
