#include <stdlib.h>
#include <string.h>

#include "image/blur.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIDE = 41 };

static struct image_scratch *scratch;
static uint8_t plane[SIDE * SIDE];

static void
noise(size_t n, uint8_t *x)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, n, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (uint8_t)rng_below(&rng, 256);
}

/* Computes the variance of the blur of a line's single bright pixel, times 255
 * / all. */
static double
spread(const uint8_t *row, double *sum)
{
    double second = 0;

    *sum = 0;
    for (int i = 0; i < SIDE; i++) {
        *sum += row[i];
        second += row[i] * pow(i - SIDE / 2, 2);
    }
    return second / *sum;
}

/*
 * A bright column: each row is the blur of one pixel.  Rounding to 8 bits
 * three times costs the tails a little.
 */
static void
variance_is_sigma_squared(void)
{
    static const double sigma[] = {0.5, 1, 1.5, 2, 3};

    for (size_t i = 0; i < sizeof sigma / sizeof *sigma; i++) {
        double sum, var;

        memset(plane, 0, sizeof plane);
        for (int y = 0; y < SIDE; y++)
            plane[y * SIDE + SIDE / 2] = 255;
        image_blur_box(SIDE, SIDE, sigma[i], plane, &scratch);
        var = spread(plane + SIDE * 20, &sum);
        T_NEAR(var / pow(sigma[i], 2), 1, 0.06, "box: variance at %g",
               sigma[i]);
        T_NEAR(sum / 255, 1, 0.03, "box: brightness at %g", sigma[i]);
    }
}

static void
flat_and_faint(void)
{
    uint8_t was[SIDE * SIDE];
    int wrong = 0;

    memset(plane, 201, sizeof plane);
    image_blur_box(SIDE, SIDE, 2, plane, &scratch);
    image_blur_kernel(SIDE, SIDE, 9, 2, plane, &scratch);
    for (size_t i = 0; i < sizeof plane; i++)
        wrong += plane[i] != 201;
    T(!wrong, "a flat picture does not change, up to its edge");
    noise(sizeof plane, plane);
    memcpy(was, plane, sizeof plane);
    image_blur_box(SIDE, SIDE, 0.02, plane, &scratch);
    image_blur_kernel(SIDE, SIDE, 5, 0.02, plane, &scratch);
    T(!memcmp(plane, was, sizeof plane), "a tiny sigma: no change");
}

/* The order of across and down matters only by rounding. */
static void
transposed(int kernel)
{
    enum { W = 13, H = 29 };
    uint8_t a[W * H], b[W * H];
    int worst = 0;

    noise(W * H, a);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            b[x * H + y] = a[y * W + x];
    if (kernel) {
        image_blur_kernel(W, H, 11, 1.7, a, &scratch);
        image_blur_kernel(H, W, 11, 1.7, b, &scratch);
    } else {
        image_blur_box(W, H, 1.7, a, &scratch);
        image_blur_box(H, W, 1.7, b, &scratch);
    }
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            worst = (int)fmax(worst, abs(b[x * H + y] - a[y * W + x]));
    T(worst <= 2, "%s: the transposed picture, within two levels",
      kernel ? "kernel" : "box");
}

/* One pass over a line by the definition, in double: a mean of 2 radius + 1
 * pixels and fractions of the outer ones. */
static void
pass_by_hand(double radius, int n, const double *in, double *out)
{
    const int whole = (int)radius;

    for (int i = 0; i < n; i++) {
        double sum = 0;

        for (int t = -whole - 1; t <= whole + 1; t++) {
            const int at = i + t < 0 ? 0 : i + t < n ? i + t : n - 1;

            sum += in[at] * (abs(t) > whole ? radius - whole : 1);
        }
        out[i] = floor(sum / (2 * radius + 1) + .5);
    }
}

/*
 * Lines of many lengths, with boxes of one pixel, of three and of more, each
 * with a fraction: equal up to one level of rounding.
 */
static void
box_agrees_with_naive(void)
{
    static const double sigma[] = {.4, 1.2, 2, 3.1, 9};
    int worst = 0, off = 0;

    for (size_t k = 0; k < 5; k++) {
        const double variance = sigma[k] * sigma[k] / 3;
        const double l = floor((sqrt(12 * variance + 1) - 1) / 2);
        const double radius = l + (2 * l + 1) * (l * (l + 1) - 3 * variance) /
                                      (6 * (variance - (l + 1) * (l + 1)));

        for (int n = 1; n < 110; n++) {
            double line[2][110];
            uint8_t x[110];

            noise((size_t)n, x);
            for (int i = 0; i < n; i++)
                line[0][i] = x[i];
            image_blur_box((size_t)n, 1, sigma[k], x, &scratch);
            for (int pass = 0; pass < 3; pass++)
                pass_by_hand(radius, n, line[pass % 2], line[(pass + 1) % 2]);
            for (int i = 0; i < n; i++) {
                worst = (int)fmax(worst, fabs(x[i] - line[1][i]));
                off += x[i] != line[1][i];
            }
        }
    }
    T(worst <= 1, "box: by the definition, off by %d", worst);
    T(off < 600, "box: %d of 29975 pixels are another level", off);
}

/* Line by line, then column by column: small and large pictures use different
 * code. */
static void
large_pictures_equal_their_lines(void)
{
    enum { W = 77, H = 83 };
    static uint8_t all[W * H], apart[W * H], column[H];
    int wrong = 0;

    for (double sigma = .05; sigma < 3; sigma += .03) {
        noise(W * H, all);
        memcpy(apart, all, sizeof all);
        image_blur_box(W, H, sigma, all, &scratch);
        for (int y = 0; y < H; y++)
            image_blur_box(W, 1, sigma, apart + y * W, &scratch);
        for (int x = 0; x < W; x++) {
            for (int y = 0; y < H; y++)
                column[y] = apart[y * W + x];
            image_blur_box(1, H, sigma, column, &scratch);
            for (int y = 0; y < H; y++)
                wrong += all[y * W + x] != column[y];
        }
    }
    T(!wrong, "box: a picture equals its lines and columns, to the bit");
}

/* The 2-D sum in double, with indices reflected naively. */
static double
naive(size_t n, const uint8_t *x, int taps, double sigma, int at_x, int at_y)
{
    double sum = 0, all = 0;

    for (int j = -taps / 2; j <= taps / 2; j++)
        for (int i = -taps / 2; i <= taps / 2; i++) {
            double w = exp(-(i * i + j * j) / (2 * sigma * sigma));
            int u = abs(at_x + i), v = abs(at_y + j);

            u = u < (int)n ? u : 2 * (int)n - 2 - u;
            v = v < (int)n ? v : 2 * (int)n - 2 - v;
            sum += w * x[(size_t)v * n + (size_t)u];
            all += w;
        }
    return sum / all;
}

static void
kernel_agrees_with_naive(void)
{
    uint8_t was[SIDE * SIDE];
    double worst = 0;

    noise(sizeof plane, plane);
    memcpy(was, plane, sizeof plane);
    image_blur_kernel(SIDE, SIDE, 9, 1.3, plane, &scratch);
    for (int i = 0; i < SIDE * SIDE; i++)
        worst = fmax(worst, fabs(plane[i] -
                                 naive(SIDE, was, 9, 1.3, i % SIDE, i / SIDE)));
    T(worst <= 0.501, "kernel: rounded once, off by %g", worst);
}

static void
smaller_than_the_blur(void)
{
    uint8_t one[1] = {9}, line[3] = {0, 90, 0}, also[3] = {0, 90, 0};

    image_blur_box(1, 1, 5, one, &scratch);
    image_blur_kernel(1, 1, 23, 5, one, &scratch);
    T(one[0] == 9, "one pixel does not change");
    image_blur_box(3, 1, 20, line, &scratch);
    T(line[0] == line[2] && line[1] < 20, "three under a wide box are even");
    image_blur_kernel(3, 1, 101, 20, also, &scratch);
    T(also[0] == also[2] && abs(also[1] - 45) < 3,
      "mirrored repeatedly: 0 90 0 90, with mean 45");
}

int
main(void)
{
    variance_is_sigma_squared();
    flat_and_faint();
    transposed(0);
    transposed(1);
    box_agrees_with_naive();
    large_pictures_equal_their_lines();
    kernel_agrees_with_naive();
    smaller_than_the_blur();
    image_scratch_free(scratch);
    return t_done();
}
