#include <math.h>
#include <string.h>

#include "color.h"
#include "randaugment.h"
#include "scratch.h"

enum { LEVELS = 256, OUTSIDE = 128, SUB = 32 /* parts of a pixel */ };
static const double one = 1 << 24; // of fixed point

static void
map_levels(size_t n, const uint8_t table[LEVELS], uint8_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = table[x[i]];
}

static void
stretch_levels(size_t n, uint8_t *x)
{
    uint8_t table[LEVELS] = {0};
    int low = 255, high = 0;

    for (size_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    if (high <= low)
        return;
    for (int v = low; v <= high; v++)
        table[v] = (uint8_t)(255 * (v - low) / (high - low));
    map_levels(n, table, x);
}

static void
equalize_levels(size_t n, uint8_t *x)
{
    size_t count[LEVELS] = {0}, last = LEVELS - 1, step, below;
    uint8_t table[LEVELS];

    for (size_t i = 0; i < n; i++)
        count[x[i]]++;
    while (!count[last])
        last--;
    step = (n - count[last]) / 255;
    if (!step)
        return;
    below = step / 2;
    for (size_t v = 0; v < LEVELS; v++) {
        table[v] = (uint8_t)(below / step < 255 ? below / step : 255);
        below += count[v];
    }
    map_levels(n, table, x);
}

static void
sharpen_plane(size_t size, double factor, uint8_t *x, uint8_t *copy)
{
    memcpy(copy, x, size * size);
    for (size_t i = 1; i + 1 < size; i++)
        for (size_t j = 1; j + 1 < size; j++) {
            const size_t at = i * size + j;
            int sum = 4 * copy[at]; // weight 5, its neighbours 1

            for (size_t k = 0; k < 9; k++)
                sum += copy[at - size - 1 + k / 3 * size + k % 3];
            x[at] =
                image_color_mix((2 * sum + 13) / 26, copy[at], (float)factor);
        }
}

static int64_t
read_pixel(size_t size, const uint8_t *x, int64_t row, int64_t column)
{
    const int64_t n = (int64_t)size;

    return row < 0 || row >= n || column < 0 || column >= n
               ? OUTSIDE
               : x[row * n + column];
}

/* Returns floor(x / of). */
static int64_t
divide_down(int64_t x, int64_t of)
{
    return (x - (x < 0 ? of - 1 : 0)) / of;
}

/* Interpolates between four pixels; row and column count parts of a pixel. */
static uint8_t
read_between(size_t size, const uint8_t *x, int64_t row, int64_t column)
{
    const int64_t i = divide_down(row, SUB), j = divide_down(column, SUB);
    const int64_t down = row - i * SUB, right = column - j * SUB;
    const int64_t upper = (SUB - right) * read_pixel(size, x, i, j) +
                          right * read_pixel(size, x, i, j + 1);
    const int64_t lower = (SUB - right) * read_pixel(size, x, i + 1, j) +
                          right * read_pixel(size, x, i + 1, j + 1);

    return (uint8_t)(((SUB - down) * upper + down * lower + SUB * SUB / 2) /
                     (SUB * SUB));
}

/* Applies the warp of an operation; m is its magnitude, with a sign. */
static void
warp_by(enum image_op_kind kind, double m, size_t size, uint8_t *x,
        uint8_t *copy)
{
    const int64_t whole = (int64_t)one, last = (int64_t)size - 1;
    const int64_t shear = (int64_t)rint(one * .03 * m);
    const int64_t shift = (int64_t)rint(one * m * (double)size / 256);
    const double angle = m * acos(-1) / 60; // around the centre, last / 2
    int64_t a[6] = {whole, 0, 0, 0, whole, 0};
    const int64_t step = (int64_t)one / SUB;

    if (kind == IMAGE_SHEAR_X) {
        a[1] = shear;
    } else if (kind == IMAGE_SHEAR_Y) {
        a[3] = shear;
    } else if (kind == IMAGE_TRANSLATE_X) {
        a[2] = shift;
    } else if (kind == IMAGE_TRANSLATE_Y) {
        a[5] = shift;
    } else {
        a[0] = a[4] = (int64_t)rint(one * cos(angle));
        a[1] = (int64_t)rint(one * sin(angle));
        a[3] = -a[1];
        a[2] = last * (whole - a[0] - a[1]) / 2;
        a[5] = last * (whole - a[0] + a[1]) / 2;
    }
    // reads each pixel (x, y) at x' = a[0] x + a[1] y + a[2], y' = a[3] x +
    // a[4] y + a[5], in fixed point, so that all machines round alike
    memcpy(copy, x, size * size);
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) {
            const int64_t across = a[0] * (int64_t)j + a[1] * (int64_t)i + a[2];
            const int64_t down = a[3] * (int64_t)j + a[4] * (int64_t)i + a[5];

            x[i * size + j] =
                read_between(size, copy, divide_down(down + step / 2, step),
                             divide_down(across + step / 2, step));
        }
}

/* Applies an operation to one plane. */
static void
change_plane(enum image_op_kind kind, double m, size_t size, uint8_t *x,
             uint8_t *copy)
{
    const size_t n = size * size;
    uint8_t table[LEVELS];

    if (kind == IMAGE_AUTOCONTRAST) {
        stretch_levels(n, x);
    } else if (kind == IMAGE_EQUALIZE) {
        equalize_levels(n, x);
    } else if (kind == IMAGE_SHARPNESS) {
        sharpen_plane(size, .1 + .18 * m, x, copy);
    } else if (kind == IMAGE_POSTERIZE || kind == IMAGE_SOLARIZE) {
        for (int v = 0; v < LEVELS; v++)
            table[v] =
                (uint8_t)(kind == IMAGE_POSTERIZE ? v & 0xff << (int)(.4 * m)
                          : v >= 256 - 25.6 * m   ? 255 - v
                                                  : v);
        map_levels(n, table, x);
    } else {
        warp_by(kind, m, size, x, copy);
    }
}

void
image_randaugment(struct image_op op, double magnitude, size_t size,
                  uint8_t *plane, struct image_scratch **scratch)
{
    const size_t n = size * size;
    const double factor = .1 + .18 * magnitude;
    const enum image_op_kind kind = op.kind;
    const int warps = kind >= IMAGE_SHEAR_X && kind <= IMAGE_ROTATE;
    const double m = op.negative && warps ? -magnitude : magnitude;
    uint8_t *copy = image_scratch_bytes(scratch, IMAGE_COPY, n);

    if (kind == IMAGE_IDENTITY)
        return;
    if (kind == IMAGE_BRIGHTNESS)
        image_color_brightness(n, factor, plane);
    else if (kind == IMAGE_SATURATION)
        image_color_saturation(n, factor, plane);
    else if (kind == IMAGE_CONTRAST)
        image_color_contrast(n, factor, plane);
    else
        for (size_t c = 0; c < 3; c++)
            change_plane(kind, m, size, plane + c * n, copy);
}
