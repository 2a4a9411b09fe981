#include <math.h>
#include <string.h>

#include "image/randaugment.h"
#include "image/view.h"
#include "t.h"
#include "util/rng.h"

enum { SIDE = 24, N = SIDE * SIDE, MANY = 20000 };

static struct image_scratch *scratch;
static uint8_t was[3 * N], is[3 * N];

/* Levels 40 .. 219, which all operations except identity change. */
static void
noise(void)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < 3 * N; i++)
        was[i] = (uint8_t)(40 + rng_below(&rng, 180));
}

/* Planes with slopes: 2 x + 3 y + 60, equal to its bilinear mean. */
static double
ramp_at(double x, double y)
{
    return 2 * x + 3 * y + 60;
}

static void
ramp(void)
{
    for (size_t i = 0; i < 3 * N; i++)
        was[i] = (uint8_t)ramp_at((double)(i % SIDE), (double)(i % N / SIDE));
}

static void
operate(size_t kind, int negative, double m)
{
    memcpy(is, was, sizeof is);
    image_randaugment((struct image_op){kind, negative}, m, SIDE, is, &scratch);
}

/* Counts pixels of plane c below a level, or of that level. */
static size_t
count(size_t c, int level, int below)
{
    size_t n = 0;

    for (size_t i = 0; i < N; i++) {
        const int v = was[c * N + i];

        n += below ? v < level : v == level;
    }
    return n;
}

static int
extreme(size_t c, int largest)
{
    int v = was[c * N];

    for (size_t i = 0; i < N; i++)
        if (largest ? was[c * N + i] > v : was[c * N + i] < v)
            v = was[c * N + i];
    return v;
}

/* mix() of color.h, in double, before truncation. */
static double
mix(double a, double b, double m)
{
    return fmin(255, fmax(0, a + (.1 + .18 * m) * (b - a)));
}

static double
grey(size_t i)
{
    return floor((19595. * was[i] + 38470. * was[N + i] +
                  7471. * was[2 * N + i] + 32768) /
                 65536);
}

/* Returns the new level of a pixel, by the formulas; -1 for other
 * operations. */
static double
formula(size_t kind, double m, size_t i)
{
    const size_t c = i / N, x = i % SIDE, y = i % N / SIDE;
    const double low = extreme(c, 0), high = extreme(c, 1), v = was[i];
    double step, sum = 0;

    if (kind == IMAGE_IDENTITY)
        return v;
    if (kind == IMAGE_AUTOCONTRAST)
        return floor(255 * (v - low) / (high - low));
    if (kind == IMAGE_EQUALIZE) {
        step = floor((N - (double)count(c, (int)high, 0)) / 255);
        return fmin(
            255, floor((floor(step / 2) + (double)count(c, (int)v, 1)) / step));
    }
    if (kind == IMAGE_BRIGHTNESS)
        return mix(0, v, m);
    if (kind == IMAGE_POSTERIZE)
        return v - fmod(v, pow(2, floor(.4 * m)));
    if (kind == IMAGE_SOLARIZE)
        return v >= 256 - 25.6 * m ? 255 - v : v;
    if (kind == IMAGE_SATURATION)
        return mix(grey(i % N), v, m);
    if (kind == IMAGE_CONTRAST) {
        for (size_t j = 0; j < N; j++)
            sum += grey(j);
        return mix(floor(sum / N + .5), v, m);
    }
    if (!x || !y || x == SIDE - 1 || y == SIDE - 1) // sharpness, from here on
        return v;
    for (int k = 0; k < 9; k++)
        sum += was[i + (size_t)(k / 3) * SIDE + (size_t)(k % 3) - SIDE - 1];
    return mix(floor((sum + 4 * v) / 13 + .5), v, m);
}

static void
levels_follow_the_formulas(void)
{
    static const size_t kinds[] = {
        IMAGE_IDENTITY,   IMAGE_AUTOCONTRAST, IMAGE_EQUALIZE,
        IMAGE_BRIGHTNESS, IMAGE_SHARPNESS,    IMAGE_POSTERIZE,
        IMAGE_SOLARIZE,   IMAGE_SATURATION,   IMAGE_CONTRAST};
    static const double strengths[] = {0, 3, 7, 10};

    noise();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < 4; s++) {
            int wrong = 0;

            operate(kinds[k], 1, strengths[s]);
            // a float may round across a whole number
            for (size_t i = 0; i < 3 * N; i++) {
                const double want = formula(kinds[k], strengths[s], i);

                wrong +=
                    is[i] != floor(want - 1e-4) && is[i] != floor(want + 1e-4);
            }
            T(!wrong, "operation %zu at %g", kinds[k], strengths[s]);
        }
}

/* Computes the source of a pixel, by the formulas. */
static void
source(size_t kind, double m, double x, double y, double at[2])
{
    const double c = (SIDE - 1) / 2., angle = 3 * m * acos(-1) / 180;

    at[0] = x;
    at[1] = y;
    if (kind == IMAGE_SHEAR_X)
        at[0] += .03 * m * y;
    else if (kind == IMAGE_SHEAR_Y)
        at[1] += .03 * m * x;
    else if (kind == IMAGE_TRANSLATE_X)
        at[0] += m * SIDE / 256;
    else if (kind == IMAGE_TRANSLATE_Y)
        at[1] += m * SIDE / 256;
    else {
        at[0] = c + cos(angle) * (x - c) + sin(angle) * (y - c);
        at[1] = c - sin(angle) * (x - c) + cos(angle) * (y - c);
    }
}

/* Returns 1 if all four pixels around a source are inside, or outside. */
static int
is_inside(const double at[2])
{
    return at[0] >= 0 && at[0] <= SIDE - 1 && at[1] >= 0 && at[1] <= SIDE - 1;
}

static int
is_outside(const double at[2])
{
    return at[0] < -1.1 || at[0] > SIDE + .1 || at[1] < -1.1 ||
           at[1] > SIDE + .1;
}

static void
sources_follow_the_formulas(void)
{
    ramp();
    for (size_t kind = IMAGE_SHEAR_X; kind <= IMAGE_ROTATE; kind++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double worst = 0, at[2];
            int inside = 0, wrong = 0;

            operate(kind, sign < 0, 7);
            for (size_t i = 0; i < 3 * N; i++) {
                source(kind, 7 * sign, (double)(i % SIDE),
                       (double)(i % N / SIDE), at);
                wrong += is_outside(at) && is[i] != 128;
                if (!is_inside(at))
                    continue;
                inside++;
                worst = fmax(worst, fabs(is[i] - ramp_at(at[0], at[1])));
            }
            // half a level, and the slope times half of 1/32 of a pixel
            T(worst < .5 + 5. / 64 + 1e-3 && inside > N && !wrong,
              "operation %zu, sign %d: off by %.2f at most", kind, sign, worst);
        }
}

/* Computes the share of views that differ from the image, with one operation a
 * view. */
static double
changed(const char *spec)
{
    struct image_recipe recipe = {0};
    uint8_t pixel[3 * N], out[3 * N];
    const struct image image = {.pixel = pixel, .width = SIDE, .height = SIDE};
    struct err err;
    double n = 0;

    T(!image_recipe_find(spec, &recipe, &err), "%s", spec);
    recipe.size = SIDE;
    memcpy(pixel, was, sizeof pixel);
    for (uint64_t i = 0; i < MANY; i++) {
        image_view(&recipe, &image, 7, i, 0, 0, &scratch, out);
        n += !!memcmp(out, pixel, sizeof out);
    }
    return n / MANY;
}

/* Random choices, within four standard errors. */
static void
operations_are_drawn_alike(void)
{
    noise();
    T(changed("none,ops=0") == 0, "none: the image itself");
    T_NEAR(changed("none,ops=1,op-kinds=10"), .9, .009, "one of ten is none");
    T_NEAR(changed("none,ops=1,op-kinds=10,op-rate=.5"), .45, .015,
           "half of them applied");
    T(changed("none,ops=2,op-kinds=1") == 0, "the first alone is identity");
    T_NEAR(changed("none,ops=1,op-kinds=2"), .5, .015, "half autocontrast");
}

int
main(void)
{
    levels_follow_the_formulas();
    sources_follow_the_formulas();
    operations_are_drawn_alike();
    image_scratch_free(scratch);
    return t_done();
}
