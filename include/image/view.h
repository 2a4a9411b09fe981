#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "util/err.h"

/* Scratch memory of the operators of this room.  It starts as NULL and grows to
 * the size for the largest image; free it with image_scratch_free(). */
struct image_scratch;
void image_scratch_free(struct image_scratch *scratch);

/*
 * A recipe: the parameters of random views of an image.  Operators are
 * torchvision's on PIL images (lib/algorithms.md 7), applied in the order:
 * random resized crop, flip, RandAugment, colour jitter, grey, blur.  A paper's
 * recipe with the flip last makes the same views.
 */
struct image_recipe {
    size_t size;                 /* views are size x size */
    double scale_min, scale_max; /* area of the crop, as a share of the image */
    double ratio_min, ratio_max; /* its aspect ratio, width / height */
    double flip;                 /* probability of mirroring left to right */
    double jitter;               /* probability of jitter */

    /* Jitter has four steps in random order: factors are uniform in max(0, 1 -
     * x) .. 1 + x, the hue rotates by -x .. x of the circle; a step with x = 0
     * is skipped. */
    double brightness, contrast, saturation, hue;
    double grey;                 /* probability */
    double blur;                 /* probability */
    double sigma_min, sigma_max; /* of the blur, in pixels */
    size_t taps; /* 0: PIL's box blurs; odd: torchvision's sampled kernel */

    /* RandAugment (arXiv:1909.13719): N operations in sequence, each chosen at
     * random among the first op_kinds of the list below, and applied at
     * magnitude M with probability op_rate. */
    size_t ops;       /* N */
    double magnitude; /* M */
    double op_rate;
    size_t op_kinds;

    double noise, drop; /* of rows of numbers (data/row.h), not of images */
};

/* Limits of a recipe: larger views are a mistake, larger blurs overflow. */
enum { IMAGE_SIZE_MAX = 4096, IMAGE_SIGMA_MAX = 100, IMAGE_OPS_MAX = 16 };

/*
 * image_recipe_find() fills in the recipe of a spec, NAME[,FIELD=X]...: a named
 * recipe with some fields changed, as in "cifar,hue=0,scale-min=0.3".
 *
 *     cifar          32 px, no blur: for small images (the default)
 *     imagenet       224 px, strong jitter, blur in every second view (SimCLR)
 *     emc2           96 px, as EMC2 on STL-10: always blurred
 *     emc2-imagenet  224 px, as EMC2 on ImageNet-100
 *     isogclr        32 px, as iSogCLR on all its image sets
 *     isogclr-texts  256 px, as its program on images with captions
 *     minibatch      224 px, as mini-batch selection on CIFAR-100
 *     sogclr         32 px, as SogCLR on CIFAR
 *     none           32 px, the largest centred square, nothing random
 *     rows           as none, with noise 0.5 and drop 0.1 for rows of numbers
 *
 * A FIELD is one of struct image_recipe, with hyphens; X is as strtod() reads
 * it in the C locale, and in range:
 *
 *     scale-min, scale-max              1e-6 .. 1, the first at most the second
 *     ratio-min, ratio-max              1e-3 .. 1e3, likewise
 *     sigma-min, sigma-max              0.01 .. IMAGE_SIGMA_MAX, likewise
 *     flip, jitter, grey, blur          0 .. 1
 *     brightness, contrast, saturation  0 .. 100
 *     hue                               0 .. 0.5
 *     taps                              0, or odd up to 1001
 *     ops                               0 .. IMAGE_OPS_MAX
 *     magnitude                         0 .. 10
 *     op-rate                           0 .. 1
 *     op-kinds                          1 .. 14
 *     noise                             0 .. 100
 *     drop                              0 .. 0.99
 *
 * Operations are identity, autocontrast, equalize, brightness, sharpness,
 * shear-x, shear-y, translate-x, translate-y, rotate, posterize, solarize,
 * saturation, contrast (defined in lib/image/randaugment.h).
 *
 * The size is not a FIELD: callers set another one afterwards.  Returns 0, or
 * -1 with the recipe untouched for an unknown name or field (the message lists
 * the known ones), a repeated field, a value that is not a number or out of
 * range.
 */
int image_recipe_find(const char *spec, struct image_recipe *recipe,
                      struct err *err);

/* The size of views by epoch: `size` from `epoch` on, until that of the next.
 * The epochs ascend, the first is 0. */
enum { IMAGE_SIZES_MAX = 16 };

struct image_sizes {
    size_t n; /* 1 .. IMAGE_SIZES_MAX */
    struct {
        int64_t epoch;
        size_t size;
    } from[IMAGE_SIZES_MAX];
};

/*
 * image_sizes_parse() reads "N" or "N@EPOCH,...", as in "16@0,24@8,32@16": 0,
 * or -1 with the reason.  N is in 1 .. IMAGE_SIZE_MAX.
 * image_sizes_at() returns the size in an epoch, image_sizes_largest() the
 * largest.
 */
int image_sizes_parse(const char *text, struct image_sizes *sizes,
                      struct err *err);
size_t image_sizes_at(const struct image_sizes *sizes, int64_t epoch);
size_t image_sizes_largest(const struct image_sizes *sizes);

/*
 * The views of an image in one or two groups, each with a size: "2x32+6x16" is
 * two of 32 pixels and six of 16.  image_groups_parse() reads that, or a number
 * of views without a size, 0 here: 0, or -1 with the reason.  The sizes of two
 * groups descend.
 *   most  views in all
 */
struct image_groups {
    size_t n; /* 1 or 2 */
    struct {
        size_t views, size;
    } of[2];
};

int image_groups_parse(const char *text, size_t most,
                       struct image_groups *groups, struct err *err);

/* A field that a spec may change, and its range. */
struct image_field {
    const char *name;
    double min, max;
};

/*
 * image_recipe_name() returns the name of recipe i of the list above, from 0;
 * image_recipe_field() field i that a spec may change, in the order of --help;
 * both NULL after the last. image_recipe_get() returns the value of field i in
 * a recipe.
 */
const char *image_recipe_name(size_t i);
const struct image_field *image_recipe_field(size_t i);
double image_recipe_get(const struct image_recipe *recipe, size_t i);

/* image_recipe_check() checks a recipe from another source against the same
 * ranges, and its size, 1 .. IMAGE_SIZE_MAX: 0, or -1 with the wrong field. */
int image_recipe_check(const struct image_recipe *recipe, struct err *err);

/*
 * image_view() makes view number `view` of a sample.  The bytes are a function
 * of recipe, image and the four numbers, on any machine.  O(size^2 + pixels of
 * the crop).
 *   image  at least one pixel: an empty one is a bug of the caller
 *   seed   the run's seed, combined with the data set's digest by the caller
 *   sample < 2^48, epoch < 2^32, view < 2^16
 *   out    [size,size,3]
 */
void image_view(const struct image_recipe *recipe, const struct image *image,
                uint64_t seed, uint64_t sample, uint64_t epoch, uint64_t view,
                struct image_scratch **scratch, uint8_t *out);

/* image_view_box() returns the box that image_view() reads of an image of that
 * size, with the same numbers. */
struct image_box image_view_box(const struct image_recipe *recipe, size_t width,
                                size_t height, uint64_t seed, uint64_t sample,
                                uint64_t epoch, uint64_t view);

/*
 * image_plain() writes the view for evaluation: the short side resized to
 * `size` (antialiased bilinear), the long one to trunc(size long / short), and
 * the centre cropped, as torchvision's Resize and CenterCrop.  An image of size
 * x size is copied; one without pixels is a bug of the caller.
 *   out  [size,size,3]
 */
void image_plain(size_t size, const struct image *image,
                 struct image_scratch **scratch, uint8_t *out);

/*
 * A fingerprint of an image: the image scaled to 9 x 8 pixels, and 64 bits,
 * each set if a pixel, in grey, is darker than the one to its right (the
 * difference hash).  Scaling, compression and slight changes of brightness do
 * not change most bits.
 */
enum { IMAGE_FINGERPRINT_WIDTH = 9, IMAGE_FINGERPRINT_HEIGHT = 8 };

struct image_fingerprint {
    uint64_t hash;
    uint8_t pixel[IMAGE_FINGERPRINT_WIDTH * IMAGE_FINGERPRINT_HEIGHT * 3];
};

/* image_fingerprint() computes it, with scratch as in image_view(). */
void image_fingerprint(const struct image *image,
                       struct image_scratch **scratch,
                       struct image_fingerprint *fingerprint);
