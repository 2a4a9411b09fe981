#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

#include "resize.h"
#include "scratch.h"

enum { TRIES = 10 };

struct image_box
image_crop_centre(size_t width, size_t height, const double ratio[2])
{
    double own = (double)width / (double)height;
    size_t w = width, h = height;

    if (own < ratio[0])
        h = (size_t)rint((double)width / ratio[0]);
    else if (own > ratio[1])
        w = (size_t)rint((double)height * ratio[1]);
    h += !h; // at least one pixel for an extreme ratio
    w += !w;
    return (struct image_box){(width - w) / 2, (height - h) / 2, w, h};
}

struct image_box
image_crop_draw(size_t width, size_t height, const double scale[2],
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
        return (struct image_box){
            .left = rng_below(rng, width - (size_t)w + 1),
            .top = rng_below(rng, height - (size_t)h + 1),
            .width = (size_t)w,
            .height = (size_t)h,
        };
    }
    return image_crop_centre(width, height, ratio);
}

/* Fixed point: bits of a weight, and the half for rounding. */
enum { BITS = 22, HALF = 1 << (BITS - 1) };

/* Computes the weights k[] of output pixel i, a weighted mean of input pixels,
 * and returns which pixels these are.  Zeros at either end are dropped: each
 * one would cost a pass over the data. */
static struct image_tap
fill_triangle(const struct image_axis *axis, size_t i, double *w, int32_t *k)
{
    double scale = (double)axis->in / (double)axis->out, sum = 0;
    double wide = fmax(scale, 1), centre = ((double)i + 0.5) * scale;
    size_t start = (size_t)fmax(centre - wide + 0.5, 0);
    size_t end = (size_t)fmin(centre + wide + 0.5, (double)axis->in);
    struct image_tap tap = {.start = start, .n = end - start};

    for (size_t j = 0; j < tap.n; j++) {
        double x = fabs(((double)(j + start) - centre + 0.5) * (1 / wide));

        w[j] = x < 1 ? 1 - x : 0;
        sum += w[j];
    }
    for (size_t j = 0; j < tap.n; j++)
        k[j] = (int32_t)(0.5 + w[j] / sum * (1 << BITS));
    while (!k[tap.n - 1])
        tap.n--;
    while (!k[tap.start - start])
        tap.start++;
    tap.n -= tap.start - start;
    memmove(k, k + (tap.start - start), tap.n * sizeof *k);
    return tap;
}

/* Returns the weights of an axis; computes them only if the sizes or the window
 * differ from the cached ones. */
static const struct image_axis *
axis_get(struct image_axis *table, size_t in, size_t out, size_t first,
         size_t n)
{
    struct image_axis *axis = table + in % IMAGE_AXES;
    const size_t most = 2 * (in / out + 2) + 1;
    double *w;

    if (axis->in == in && axis->out == out && axis->first == first &&
        axis->n == n)
        return axis;
    axis->in = in;
    axis->out = out;
    axis->first = first;
    axis->n = n;
    mem_grow(&axis->tap, &axis->tap_room, n, sizeof *axis->tap);
    w = mem_array(most, sizeof *w);
    for (size_t i = 0, used = 0; i < n; i++) {
        mem_grow(&axis->weight, &axis->weight_room, used + most,
                 sizeof *axis->weight);
        axis->tap[i] = fill_triangle(axis, first + i, w, axis->weight + used);
        axis->tap[i].k = used;
        used += axis->tap[i].n;
    }
    free(w);
    return axis;
}

/* An axis reads the input pixels axis_low() .. axis_high() - 1. */
static size_t
axis_low(const struct image_axis *axis)
{
    return axis->tap[0].start;
}

static size_t
axis_high(const struct image_axis *axis)
{
    return axis->tap[axis->n - 1].start + axis->tap[axis->n - 1].n;
}

/* Computes one line of n bytes from several successive ones: a constant number
 * of taps is unrolled, and sums stay in registers. */
static inline void
mix_unrolled(size_t n, size_t taps, const int32_t *restrict k,
             const uint8_t *restrict in, uint8_t *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        int32_t sum = HALF;

        for (size_t t = 0; t < taps; t++)
            sum += k[t] * in[t * n + i];
        sum >>= BITS;
        out[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

/* The same for any number of taps. */
static inline void
mix_any(size_t n, size_t taps, const int32_t *k, const uint8_t *in,
        uint8_t *out)
{
    enum { CHUNK = 64 };

    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        int32_t sum[CHUNK];

        for (size_t j = 0; j < m; j++)
            sum[j] = HALF;
        for (size_t t = 0; t < taps; t++) {
            const uint8_t *line = in + t * n + i;

            for (size_t j = 0; j < m; j++)
                sum[j] += k[t] * line[j];
        }
        for (size_t j = 0; j < m; j++) {
            int32_t v = sum[j] >> BITS;

            out[i + j] = (uint8_t)(v < 255 ? v : 255);
        }
    }
}

static UTIL_CLONES(void, mix_many,
                   (size_t n, size_t taps, const int32_t *k, const uint8_t *in,
                    uint8_t *out),
                   (n, taps, k, in, out))
{
    if (taps == 2)
        mix_unrolled(n, 2, k, in, out);
    else if (taps == 3)
        mix_unrolled(n, 3, k, in, out);
    else if (taps == 4)
        mix_unrolled(n, 4, k, in, out);
    else if (taps == 5)
        mix_unrolled(n, 5, k, in, out);
    else
        mix_any(n, taps, k, in, out);
}

void
image_resize(const struct image *image, const struct image_box *box,
             size_t width, size_t height, const struct image_box *part,
             int flip, struct image_scratch **scratch, uint8_t *out)
{
    const struct image_box all = {0, 0, width, height};
    const struct image_axis *across, *down;
    const uint8_t *const end = image->pixel + 3 * image->width * image->height;
    const uint8_t *in;
    uint8_t *upright;
    size_t w, h, n;

    if (!part)
        part = &all;
    REQUIRE(box->width && box->left + box->width <= image->width);
    REQUIRE(box->height && box->top + box->height <= image->height);
    REQUIRE(part->width && part->left + part->width <= width);
    REQUIRE(part->height && part->top + part->height <= height);
    across = axis_get(image_scratch(scratch)->axis[0], box->width, width,
                      part->left, part->width);
    down = axis_get((*scratch)->axis[1], box->height, height, part->top,
                    part->height);
    w = axis_high(across) - axis_low(across);
    h = axis_high(down) - axis_low(down);

    in = image->pixel + 3 * ((box->top + axis_low(down)) * image->width +
                             box->left + axis_low(across));
    upright = image_scratch_bytes(scratch, IMAGE_UPRIGHT, 3 * part->width * h);
    image_across(&(struct image_across){across, h, in, 3 * image->width,
                                        (size_t)(end - in), w, flip, upright},
                 scratch);
    n = 3 * part->width;
    for (size_t i = 0; i < down->n; i++, out += n) {
        const struct image_tap *tap = down->tap + i;
        const uint8_t *from = upright + (tap->start - axis_low(down)) * n;

        if (tap->n == 1)
            memcpy(out, from, n);
        else
            mix_many(n, tap->n, down->weight + tap->k, from, out);
    }
}

void
image_fingerprint(const struct image *image, struct image_scratch **scratch,
                  struct image_fingerprint *fingerprint)
{
    const struct image_box all = {0, 0, image->width, image->height};
    const uint8_t *p = fingerprint->pixel;
    uint64_t hash = 0;

    image_resize(image, &all, IMAGE_FINGERPRINT_WIDTH, IMAGE_FINGERPRINT_HEIGHT,
                 NULL, 0, scratch, fingerprint->pixel);
    for (size_t i = 0; i < IMAGE_FINGERPRINT_WIDTH * IMAGE_FINGERPRINT_HEIGHT;
         i++, p += 3) {
        const int here = 299 * p[0] + 587 * p[1] + 114 * p[2];

        if (i % IMAGE_FINGERPRINT_WIDTH + 1 < IMAGE_FINGERPRINT_WIDTH)
            hash = hash << 1 | (here < 299 * p[3] + 587 * p[4] + 114 * p[5]);
    }
    fingerprint->hash = hash;
}
