#include <math.h>
#include <string.h>

#include "util/clones.h"
#include "util/err.h"

#include "blur.h"
#include "scratch.h"

enum { PASSES = 3, RUN = 32, ROWS = 8, HALF = 1 << 23 };

/* A box in fixed point, 1 being 2^24: 2 radius + 1 whole pixels, two parts. */
struct box {
    size_t radius;
    uint32_t whole, part;
};

/* Returns the box of which PASSES passes have variance sigma^2, in PIL's
 * arithmetic. */
static struct box
box_for(double sigma)
{
    float variance = (float)sigma * (float)sigma / PASSES;
    float length = (float)sqrt(12.0 * variance + 1.0);
    float l = (float)floor((length - 1.0) / 2.0);
    float a = (2 * l + 1) * (l * (l + 1) - 3 * variance) /
              (6 * (variance - (l + 1) * (l + 1)));
    float radius = l + a;
    struct box box = {.radius = (size_t)radius};

    box.whole = (uint32_t)((float)(1 << 24) / (radius * 2 + 1));
    box.part = ((1 << 24) - (2 * (uint32_t)box.radius + 1) * box.whole) / 2;
    return box;
}

/*
 * Computes n pixels of a pass over a padded line or picture: pixel i is a sum
 * of in[i + t step], t = 0 .. 2 radius + 2, the first and the last weighted by
 * `part`, the others by `whole`.  Intermediate pixels have 16 bits, so that
 * sums need no widening.  For a constant radius of 0 or 1: sums stay in
 * registers.
 */
static inline void
box_small(size_t n, const struct box *box, size_t radius,
          const uint16_t *restrict in, size_t step, uint16_t *restrict out)
{
    const size_t last = 2 * (radius + 1) * step;
    const uint32_t whole = box->whole, part = box->part;

    for (size_t i = 0; i < n; i++) {
        const uint16_t ends = (uint16_t)(in[i] + in[last + i]);
        uint16_t all = in[(radius + 1) * step + i];

        if (radius)
            all = (uint16_t)(all + in[step + i] + in[3 * step + i]);
        out[i] = (uint16_t)((all * whole + ends * part + HALF) >> 24);
    }
}

/* The same for m <= RUN pixels and 3 taps or more between the first and
 * last. */
static inline void
box_some(size_t m, const struct box *box, size_t taps,
         const uint16_t *restrict in, size_t step, uint16_t *restrict out)
{
    uint16_t sum[RUN];

    for (size_t j = 0; j < m; j++)
        sum[j] = (uint16_t)(in[step + j] + in[(taps - 1) * step + j] +
                            in[taps * step + j]);
    for (size_t t = 2; t + 1 < taps; t += 2)
        for (size_t j = 0; j < m; j++)
            sum[j] =
                (uint16_t)(sum[j] + in[t * step + j] + in[(t + 1) * step + j]);
    for (size_t j = 0; j < m; j++) {
        const uint16_t ends = (uint16_t)(in[j] + in[(taps + 1) * step + j]);

        out[j] =
            (uint16_t)((sum[j] * box->whole + ends * box->part + HALF) >> 24);
    }
}

static UTIL_CLONES(void, box_pass,
                   (size_t n, const struct box *box, const uint16_t *in,
                    size_t step, uint16_t *out),
                   (n, box, in, step, out))
{
    const size_t taps = 2 * box->radius + 1;
    size_t i = 0;

    if (box->radius == 0) {
        box_small(n, box, 0, in, step, out);
    } else if (box->radius == 1) {
        box_small(n, box, 1, in, step, out);
    } else { // a constant number of pixels takes few instructions
        for (; i + RUN <= n; i += RUN)
            box_some(RUN, box, taps, in + i, step, out + i);
        box_some(n - i, box, taps, in + i, step, out + i);
    }
}

/* Convert up to RUN pixels of each of `height` lines, `apart` from each other,
 * to words and back.  The separate loop for the constant RUN compiles to a few
 * instructions without a remainder. */
static UTIL_CLONES(void, widen_bytes,
                   (size_t n, size_t height, size_t apart,
                    const uint8_t *restrict in, size_t step,
                    uint16_t *restrict out),
                   (n, height, apart, in, step, out))
{
    for (size_t y = 0; y < height; y++, in += apart, out += step)
        if (n == RUN)
            for (size_t i = 0; i < RUN; i++)
                out[i] = in[i];
        else
            for (size_t i = 0; i < n; i++)
                out[i] = in[i];
}

static UTIL_CLONES(void, narrow_words,
                   (size_t n, size_t height, size_t step,
                    const uint16_t *restrict in, size_t apart,
                    uint8_t *restrict out),
                   (n, height, step, in, apart, out))
{
    for (size_t y = 0; y < height; y++, out += apart, in += step)
        if (n == RUN)
            for (size_t i = 0; i < RUN; i++)
                out[i] = (uint8_t)in[i];
        else
            for (size_t i = 0; i < n; i++)
                out[i] = (uint8_t)in[i];
}

/* Rounds a count of pixels up to a multiple of a vector: a store across two
 * cache lines takes twice as long. */
static size_t
round_up(size_t n)
{
    return (n + RUN - 1) / RUN * RUN;
}

/* Blurs across, ROWS rows at a time, so that no load waits for a recent store:
 * rows are `row` words apart and have `pad` more pixels on either side; work[]
 * points after those on the left of the first. */
static void
box_across(size_t width, size_t height, size_t row, const struct box *box,
           uint8_t *plane, uint16_t *const work[2])
{
    const size_t pad = box->radius + 1;

    for (size_t y = 0; y < height; y += ROWS, plane += ROWS * width) {
        const size_t rows = height - y < ROWS ? height - y : ROWS;

        widen_bytes(width, rows, width, plane, row, work[0]);
        for (int pass = 0; pass < PASSES; pass++) {
            for (size_t r = 0; r < rows; r++) {
                uint16_t *at = work[pass % 2] + r * row;

                for (size_t i = 0; i < pad; i++) {
                    at[-1 - (ptrdiff_t)i] = at[0];
                    at[width + i] = at[width - 1];
                }
            }
            box_pass((rows - 1) * row + width, box, work[pass % 2] - pad, 1,
                     work[(pass + 1) % 2]);
        }
        narrow_words(width, rows, row, work[PASSES % 2], width, plane);
    }
}

/* Blurs down, RUN columns at a time, which fit into the first cache; `pad` more
 * rows above and below; work[] points after those above. */
static void
box_down(size_t width, size_t height, const struct box *box, uint8_t *plane,
         uint16_t *const work[2])
{
    const size_t pad = box->radius + 1, area = RUN * height;
    const size_t bytes = RUN * sizeof(uint16_t);

    for (size_t x = 0; x < width; x += RUN) {
        const size_t n = width - x < RUN ? width - x : RUN;

        widen_bytes(n, height, width, plane + x, RUN, work[0]);
        for (int pass = 0; pass < PASSES; pass++) {
            uint16_t *top = work[pass % 2], *in = top - pad * RUN;

            for (size_t i = 0; i < pad; i++) {
                memcpy(in + i * RUN, top, bytes);
                memcpy(top + area + i * RUN, top + area - RUN, bytes);
            }
            box_pass(area, box, in, RUN, work[(pass + 1) % 2]);
        }
        narrow_words(n, height, RUN, work[PASSES % 2], width, plane + x);
    }
}

void
image_blur_box(size_t width, size_t height, double sigma, uint8_t *plane,
               struct image_scratch **scratch)
{
    const struct box box = box_for(sigma);
    const size_t pad = box.radius + 1, side = round_up(pad);
    const size_t row = side + round_up(width + pad);
    const size_t across = side + ROWS * row, down = RUN * (height + 2 * pad);
    const size_t room = across > down ? across : down;
    uint16_t *work[2], *start;
    uintptr_t bytes;

    REQUIRE(sigma > 0 && sigma <= IMAGE_SIGMA_MAX);
    bytes = (uintptr_t)image_scratch_bytes(scratch, IMAGE_BLUR,
                                           2 * (2 * room + RUN));
    start = (uint16_t *)((bytes + 63) / 64 * 64);
    work[0] = start + side;
    work[1] = start + room + side;
    box_across(width, height, row, &box, plane, work);
    work[0] = start + RUN * pad;
    work[1] = start + room + RUN * pad;
    box_down(width, height, &box, plane, work);
}

/* Reflects an index outside of 0 .. n - 1 at the edges. */
static size_t
mirror_index(ptrdiff_t at, size_t n)
{
    ptrdiff_t period = 2 * (ptrdiff_t)n - 2;

    if (n == 1)
        return 0;
    at = (at % period + period) % period;
    return (size_t)(at < (ptrdiff_t)n ? at : period - at);
}

static UTIL_CLONES(void, weigh_down,
                   (size_t n, size_t taps, const float *w,
                    const uint8_t *const *line, float *out),
                   (n, taps, w, line, out))
{
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    for (size_t t = 0; t < taps; t++)
        for (size_t i = 0; i < n; i++)
            out[i] += w[t] * line[t][i];
}

static UTIL_CLONES(void, weigh_across,
                   (size_t n, size_t taps, const float *w, const float *in,
                    uint8_t *out),
                   (n, taps, w, in, out))
{
    enum { CHUNK = 64 };

    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        float sum[CHUNK] = {0};

        for (size_t t = 0; t < taps; t++)
            for (size_t j = 0; j < m; j++)
                sum[j] += w[t] * in[i + t + j];
        for (size_t j = 0; j < m; j++)
            out[i + j] = (uint8_t)(int)rintf(sum[j]);
    }
}

void
image_blur_kernel(size_t width, size_t height, size_t taps, double sigma,
                  uint8_t *plane, struct image_scratch **scratch)
{
    const size_t half = taps / 2, floats = taps + width + 2 * half;
    const uint8_t **line;
    uint8_t *source;
    float *w, *row;
    double sum = 0;

    REQUIRE(sigma > 0 && taps % 2);
    line =
        (void *)image_scratch_bytes(scratch, IMAGE_LINES, taps * sizeof *line);
    w = (void *)image_scratch_bytes(scratch, IMAGE_ROW, floats * sizeof *w);
    row = w + taps;
    source = image_scratch_bytes(scratch, IMAGE_BLUR, width * height);
    memcpy(source, plane, width * height);
    for (size_t t = 0; t < taps; t++) {
        double x = ((double)t - (double)(taps / 2)) / sigma;

        w[t] = (float)exp(-0.5 * x * x);
        sum += w[t];
    }
    for (size_t t = 0; t < taps; t++)
        w[t] = (float)(w[t] / sum);
    for (size_t y = 0; y < height; y++, plane += width) {
        for (size_t t = 0; t < taps; t++)
            line[t] = source +
                      width * mirror_index((ptrdiff_t)(y + t) - (ptrdiff_t)half,
                                           height);
        weigh_down(width, taps, w, line, row + half);
        for (size_t i = 1; i <= half; i++) {
            row[half - i] = row[half + mirror_index(-(ptrdiff_t)i, width)];
            row[half + width - 1 + i] =
                row[half + mirror_index((ptrdiff_t)(width - 1 + i), width)];
        }
        weigh_across(width, taps, w, row, plane);
    }
}
