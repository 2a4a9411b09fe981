#include <math.h>
#include <string.h>

#include "data/blur.h"
#include "scratch.h"
#include "util/clones.h"
#include "util/err.h"

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
 * One line of n pixels from the 2 radius + 3 lines around it: the first and
 * the last count by part, those between as a whole.
 */
UTIL_CLONES static void
box_line(size_t n, const struct box *box, const uint8_t *const *line,
         uint8_t *out)
{
    enum { CHUNK = 64, HALF = 1 << 23 };
    const size_t last = 2 * box->radius + 2;

    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        const uint8_t *first = line[0] + i, *end = line[last] + i;
        uint16_t sum[CHUNK] = {0};

        for (size_t t = 1; t < last; t++) {
            const uint8_t *whole = line[t] + i;

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

/* Repeat the ends of the n pixels at row + pad over pad pixels each. */
static void
extend(size_t n, size_t pad, uint8_t *row)
{
    memset(row, row[pad], pad);
    memset(row + pad + n, row[pad + n - 1], pad);
}

static void
box_across(size_t width, size_t height, const struct box *box, uint8_t *plane,
           const uint8_t **line, uint8_t *work)
{
    const size_t pad = box->radius + 1;
    uint8_t *row[2] = {work, work + width + 2 * pad};

    for (size_t y = 0; y < height; y++, plane += width) {
        memcpy(row[0] + pad, plane, width);
        for (int pass = 0; pass < PASSES; pass++) {
            uint8_t *in = row[pass % 2], *out = row[(pass + 1) % 2] + pad;

            extend(width, pad, in);
            for (size_t t = 0; t < 2 * pad + 1; t++)
                line[t] = in + t;
            box_line(width, box, line, pass + 1 < PASSES ? out : plane);
        }
    }
}

static void
box_down(size_t width, size_t height, const struct box *box, uint8_t *plane,
         const uint8_t **line, uint8_t *work)
{
    const ptrdiff_t pad = (ptrdiff_t)box->radius + 1;
    const ptrdiff_t bottom = (ptrdiff_t)height - 1;
    uint8_t *stage[PASSES + 1] = {plane, work, work + width * height, plane};

    for (int pass = 0; pass < PASSES; pass++) {
        for (ptrdiff_t y = 0; y <= bottom; y++) {
            for (ptrdiff_t t = -pad; t <= pad; t++) {
                ptrdiff_t at = y + t < 0 ? 0 : y + t < bottom ? y + t : bottom;

                line[t + pad] = stage[pass] + (size_t)at * width;
            }
            box_line(width, box, line, stage[pass + 1] + (size_t)y * width);
        }
    }
}

void
data_blur_box(size_t width, size_t height, double sigma, uint8_t *plane,
              struct data_scratch **scratch)
{
    struct box box = box_for(sigma);
    size_t lines = 2 * box.radius + 3, rows = 2 * (width + lines);
    size_t area = 2 * width * height;
    const uint8_t **line;
    uint8_t *work;

    REQUIRE(sigma > 0 && sigma <= DATA_SIGMA_MAX);
    line =
        (void *)data_scratch_bytes(scratch, DATA_LINES, lines * sizeof *line);
    work = data_scratch_bytes(scratch, DATA_BLUR, rows > area ? rows : area);
    box_across(width, height, &box, plane, line, work);
    box_down(width, height, &box, plane, line, work);
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
