#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "util/err.h"

/*
 * Damage of 19 kinds and five severities, to test the robustness of features:
 * our versions of the corruptions of CIFAR-10-C (Hendrycks and Dietterich 2019,
 * arXiv:1903.12261), with its names and, for kinds with rising strength in it,
 * its parameters for 32 pixels.
 *
 *     noise    gaussian_noise shot_noise impulse_noise speckle_noise
 *     blur     defocus_blur glass_blur motion_blur zoom_blur gaussian_blur
 *     weather  snow frost fog brightness spatter
 *     digital  contrast elastic_transform pixelate jpeg_compression saturate
 *
 * Lengths are in pixels of an image of 32 and scale with the short side.  Frost
 * is synthetic, not photographed.
 */
enum { IMAGE_CORRUPTIONS = 19, IMAGE_SEVERITIES = 5 };

/* image_corrupt_name() returns the name of a kind, < IMAGE_CORRUPTIONS. */
const char *image_corrupt_name(size_t kind);

/* image_corrupt_find() finds a kind by name: 0, or -1 with the list of names.
 */
int image_corrupt_find(const char *name, size_t *kind, struct err *err);

/*
 * image_corrupt() writes a damaged copy of an image.  Its random numbers are a
 * function of seed, sample and kind: all severities of a sample share them and
 * differ only in strength.
 *   severity  1 .. IMAGE_SEVERITIES
 *   sample    < 2^48
 *   out       another image; it gets the same size
 * O(pixels x area of a blur).
 */
void image_corrupt(size_t kind, int severity, uint64_t seed, uint64_t sample,
                   const struct image *image, struct image *out);
