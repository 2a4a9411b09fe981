#ifndef DATA_VIEW_H
#define DATA_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "data/jpeg.h"
#include "util/err.h"

/*
 * A recipe: how a random view of an image is made.  Operators are torchvision's
 * on PIL images (algorithms.md 6.4), applied in the order: random resized crop,
 * [flip], colour jitter, grey, blur, [flip]; where the flip stands makes no
 * difference to the result's law and it is done with the crop.
 */
struct data_recipe {
    size_t size;                 /* views are size x size */
    double scale_min, scale_max; /* share of the area that the crop keeps */
    double ratio_min, ratio_max; /* its aspect */
    double flip;                 /* probability */
    double jitter;               /* probability of jitter at all */
    double brightness, contrast, saturation, hue;
    double grey;                 /* probability */
    double blur;                 /* probability */
    double sigma_min, sigma_max; /* of the blur, in pixels */
};

/*
 * data_recipe_find() fills in a named recipe: cifar (the default for small
 * images: no blur), imagenet, emc2, emc2-imagenet, isogclr, minibatch, sogclr,
 * none (resize only).  -1 with the list of names.
 */
int data_recipe_find(const char *name, struct data_recipe *recipe,
                     struct err *err);

/*
 * data_view() makes view number `view` of a sample.  The bytes are a function
 * of recipe, image and the four numbers, on any machine.
 *   seed   the run's seed, combined with the data set's digest by the caller
 *   sample < 2^48, epoch < 2^32, view < 2^16
 *   out    [size,size,3]
 */
struct data_scratch; /* grows as needed; starts as NULL, data_scratch_free() */
void data_view(const struct data_recipe *recipe, const struct data_image *image,
               uint64_t seed, uint64_t sample, uint64_t epoch, uint64_t view,
               struct data_scratch **scratch, uint8_t *out);
void data_scratch_free(struct data_scratch *scratch);

/*
 * data_plain() is the view for evaluation: the short side resized to `size`
 * (antialiased bilinear), the centre cropped.  An image of size x size is
 * copied.
 */
void data_plain(size_t size, const struct data_image *image,
                struct data_scratch **scratch, uint8_t *out);

#endif
