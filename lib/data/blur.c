#include <math.h>
#include <string.h>

#include "util/clones.h"
#include "util/err.h"

#include "blur.h"
#include "scratch.h"

enum { PASSES = 3 };

/* A box in fixed point, 1 being 2^24: 2 radius + 1 whole pixels, two parts. */
struct box {
    size_t radius;
    uint32_t whole, part;
};

/* The box whose PASSES-fold blur has variance sigma^2; PIL's arithmetic. */
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
 * One pass over a padded picture: pixel i comes of in[i + t step] with
 * t = 0 .. 2 radius + 2, the first and the last by part, those between as a
 * whole.
 */
UTIL_CLONES static void
box_pass(size_t n, const struct box *box, const uint8_t *in, size_t step,
         uint8_t *restrict out)
{
    enum { CHUNK = 64, HALF = 1 << 23 };
    const size_t last = 2 * box->radius + 2;

    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        const uint8_t *first = in + i, *end = first + last * step;
        uint16_t sum[CHUNK] = {0};

        for (size_t t = 1; t < last; t++) {
            const uint8_t *whole = first + t * step;

            for (size_t j = 0; j < m; j++)
                sum[j] = (uint16_t)(sum[j] + whole[j]);
        }
        for (size_t j = 0; j < m; j++) {
            uint32_t ends = (uint32_t)first[j] + end[j];

            out[i + j] =
                (uint8_t)((sum[j] * box->whole + ends * box->part + HALF) >>
                          24);
        }
    }
}

/*
 * Across: rows with `pad` pixels more on either side, all in one pass; what
 * comes out in their place is overwritten before it is read.
 */
static void
box_across(size_t width, size_t height, const struct box *box, uint8_t *plane,
           uint8_t *const work[2])
{
    const size_t pad = box->radius + 1, stride = width + 2 * pad;

    for (size_t y = 0; y < height; y++)
        memcpy(work[0] + y * stride + pad, plane + y * width, width);
    for (int pass = 0; pass < PASSES; pass++) {
        uint8_t *in = work[pass % 2], *out = work[(pass + 1) % 2] + pad;

        for (size_t y = 0; y < height; y++) {
            uint8_t *row = in + y * stride, *end = row + pad + width;

            for (size_t i = 0; i < pad; i++) {
                row[i] = row[pad];
                end[i] = end[-1];
            }
        }
        box_pass(stride * height - 2 * pad, box, in, 1, out);
    }
    for (size_t y = 0; y < height; y++)
        memcpy(plane + y * width, work[PASSES % 2] + y * stride + pad, width);
}

/* Down: `pad` rows more above and below. */
static void
box_down(size_t width, size_t height, const struct box *box, uint8_t *plane,
         uint8_t *const work[2])
{
    const size_t pad = box->radius + 1, area = width * height;

    memcpy(work[0] + pad * width, plane, area);
    for (int pass = 0; pass < PASSES; pass++) {
        uint8_t *in = work[pass % 2], *top = in + pad * width;
        uint8_t *out = work[(pass + 1) % 2] + pad * width;

        for (size_t i = 0; i < pad; i++) {
            memcpy(in + i * width, top, width);
            memcpy(top + area + i * width, top + area - width, width);
        }
        box_pass(area, box, in, width, pass + 1 < PASSES ? out : plane);
    }
}

void
data_blur_box(size_t width, size_t height, double sigma, uint8_t *plane,
              struct data_scratch **scratch)
{
    const struct box box = box_for(sigma);
    const size_t pad = 2 * (box.radius + 1);
    const size_t across = (width + pad) * height;
    const size_t down = width * (height + pad);
    const size_t room = across > down ? across : down;
    uint8_t *work[2];

    REQUIRE(sigma > 0 && sigma <= DATA_SIGMA_MAX);
    work[0] = data_scratch_bytes(scratch, DATA_BLUR, 2 * room);
    work[1] = work[0] + room;
    box_across(width, height, &box, plane, work);
    box_down(width, height, &box, plane, work);
}

/* Fold an index that fell off either edge back in, as a mirror there does. */
static size_t
mirror(ptrdiff_t at, size_t n)
{
    ptrdiff_t period = 2 * (ptrdiff_t)n - 2;

    if (n == 1)
        return 0;
    at = (at % period + period) % period;
    return (size_t)(at < (ptrdiff_t)n ? at : period - at);
}

UTIL_CLONES static void
weigh_down(size_t n, size_t taps, const float *w, const uint8_t *const *line,
           float *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    for (size_t t = 0; t < taps; t++)
        for (size_t i = 0; i < n; i++)
            out[i] += w[t] * line[t][i];
}

UTIL_CLONES static void
weigh_across(size_t n, size_t taps, const float *w, const float *in,
             uint8_t *out)
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

static void
gaussian(size_t taps, double sigma, float *w)
{
    double sum = 0;

    for (size_t t = 0; t < taps; t++) {
        double x = ((double)t - (double)(taps / 2)) / sigma;

        w[t] = (float)exp(-0.5 * x * x);
        sum += w[t];
    }
    for (size_t t = 0; t < taps; t++)
        w[t] = (float)(w[t] / sum);
}

void
data_blur_kernel(size_t width, size_t height, size_t taps, double sigma,
                 uint8_t *plane, struct data_scratch **scratch)
{
    const size_t half = taps / 2, floats = taps + width + 2 * half;
    const uint8_t **line;
    uint8_t *source;
    float *w, *row;

    REQUIRE(sigma > 0 && taps % 2);
    line = (void *)data_scratch_bytes(scratch, DATA_LINES, taps * sizeof *line);
    w = (void *)data_scratch_bytes(scratch, DATA_ROW, floats * sizeof *w);
    row = w + taps;
    source = data_scratch_bytes(scratch, DATA_BLUR, width * height);
    memcpy(source, plane, width * height);
    gaussian(taps, sigma, w);
    for (size_t y = 0; y < height; y++, plane += width) {
        for (size_t t = 0; t < taps; t++)
            line[t] =
                source +
                width * mirror((ptrdiff_t)(y + t) - (ptrdiff_t)half, height);
        weigh_down(width, taps, w, line, row + half);
        for (size_t i = 1; i <= half; i++) {
            row[half - i] = row[half + mirror(-(ptrdiff_t)i, width)];
            row[half + width - 1 + i] =
                row[half + mirror((ptrdiff_t)(width - 1 + i), width)];
        }
        weigh_across(width, taps, w, row, plane);
    }
}
