#include <math.h>
#include <string.h>

#include "util/clones.h"
#include "util/err.h"

#include "blur.h"
#include "scratch.h"

enum { PASSES = 3, RUN = 32, HALF = 1 << 23 };

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
 * m <= RUN pixels of a pass over a padded line or picture: pixel i comes of
 * in[i + t step] with t = 0 .. taps + 1, the first and the last by part, the
 * 2 radius + 1 taps between them as a whole.  A pixel has 16 bits on its
 * way, so that nothing is widened before it is summed.
 */
static inline void
box_some(size_t m, const struct box *box, size_t taps,
         const uint16_t *restrict in, size_t step, uint16_t *restrict out)
{
    uint16_t sum[RUN];

    for (size_t j = 0; j < m; j++)
        sum[j] = in[step + j];
    for (size_t t = 2; t + 1 < taps; t += 2)
        for (size_t j = 0; j < m; j++)
            sum[j] =
                (uint16_t)(sum[j] + in[t * step + j] + in[(t + 1) * step + j]);
    for (size_t j = 0; j < m; j++) {
        const uint16_t ends = (uint16_t)(in[j] + in[(taps + 1) * step + j]);
        uint16_t all = sum[j];

        if (taps > 1)
            all = (uint16_t)(all + in[(taps - 1) * step + j] +
                             in[taps * step + j]);
        out[j] = (uint16_t)((all * box->whole + ends * box->part + HALF) >> 24);
    }
}

/* A taps pass; known numbers of pixels, here and below, let the compiler keep
 * a sum in a register. */
static inline void
box_line(size_t n, const struct box *box, size_t taps, const uint16_t *in,
         size_t step, uint16_t *out)
{
    size_t i = 0;

    for (; i + RUN <= n; i += RUN)
        box_some(RUN, box, taps, in + i, step, out + i);
    box_some(n - i, box, taps, in + i, step, out + i);
}

UTIL_CLONES static void
box_pass(size_t n, const struct box *box, const uint16_t *in, size_t step,
         uint16_t *out)
{
    if (box->radius == 0)
        box_line(n, box, 1, in, step, out);
    else if (box->radius == 1)
        box_line(n, box, 3, in, step, out);
    else
        box_line(n, box, 2 * box->radius + 1, in, step, out);
}

UTIL_CLONES static void
widen(size_t n, const uint8_t *restrict in, uint16_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = in[i];
}

UTIL_CLONES static void
narrow(size_t n, const uint16_t *restrict in, uint8_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)in[i];
}

/*
 * Across: each row with `pad` pixels more on either side; line[] points behind
 * those on the left.
 */
static void
box_across(size_t width, size_t height, const struct box *box,
           const uint8_t *plane, uint16_t *const line[2], uint16_t *out)
{
    const size_t pad = box->radius + 1;

    for (size_t y = 0; y < height; y++, plane += width, out += width) {
        widen(width, plane, line[0]);
        for (int pass = 0; pass < PASSES; pass++) {
            uint16_t *row = line[pass % 2], *in = row - pad;
            uint16_t *to = pass + 1 < PASSES ? line[(pass + 1) % 2] : out;

            for (size_t i = 0; i < pad; i++) {
                in[i] = row[0];
                row[width + i] = row[width - 1];
            }
            box_pass(width, box, in, 1, to);
        }
    }
}

/* Down: `pad` rows more above and below, work[] points behind those above;
 * what comes out is in the one that PASSES ends with. */
static void
box_down(size_t width, size_t height, const struct box *box,
         uint16_t *const work[2])
{
    const size_t pad = box->radius + 1, area = width * height;
    const size_t bytes = width * sizeof(uint16_t);

    for (int pass = 0; pass < PASSES; pass++) {
        uint16_t *top = work[pass % 2], *in = top - pad * width;

        for (size_t i = 0; i < pad; i++) {
            memcpy(in + i * width, top, bytes);
            memcpy(top + area + i * width, top + area - width, bytes);
        }
        box_pass(area, box, in, width, work[(pass + 1) % 2]);
    }
}

/* A count of pixels made a multiple of a vector's: a store that crosses two
 * lines of the cache takes twice as long. */
static size_t
round_up(size_t n)
{
    return (n + RUN - 1) / RUN * RUN;
}

void
data_blur_box(size_t width, size_t height, double sigma, uint8_t *plane,
              struct data_scratch **scratch)
{
    const struct box box = box_for(sigma);
    const size_t pad = box.radius + 1, area = width * height;
    const size_t side = round_up(pad), above = round_up(pad * width);
    const size_t row = side + round_up(width + pad);
    const size_t all = above + round_up(area + pad * width);
    const size_t room = 2 * (row + all) + RUN;
    uint16_t *line[2], *work[2], *start;
    uintptr_t bytes;

    REQUIRE(sigma > 0 && sigma <= DATA_SIGMA_MAX);
    bytes = (uintptr_t)data_scratch_bytes(scratch, DATA_BLUR, 2 * room);
    start = (uint16_t *)((bytes + 63) / 64 * 64);
    for (size_t i = 0; i < 2; i++) {
        line[i] = start + i * row + side;
        work[i] = start + 2 * row + i * all + above;
    }
    box_across(width, height, &box, plane, line, work[0]);
    box_down(width, height, &box, work);
    narrow(area, work[PASSES % 2], plane);
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
