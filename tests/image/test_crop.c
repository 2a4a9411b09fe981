#include "image/resize.h"
#include "t.h"

static const double scale[2] = {0.2, 1}, ratio[2] = {3. / 4, 4. / 3};

static void
boxes_stay_inside(void)
{
    static const size_t size[][2] = {
        {1, 1}, {1, 9}, {9, 1}, {32, 32}, {7, 200}};
    struct rng rng;
    int out = 0;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < 5000; i++) {
        size_t w = size[i % 5][0], h = size[i % 5][1];
        struct image_box box = image_crop_draw(w, h, scale, ratio, &rng);

        out += !box.width || !box.height || box.left + box.width > w ||
               box.top + box.height > h;
    }
    T(!out, "every box is inside its image, the narrowest too");
}

/*
 * On a large square only boxes that do not fit are rejected, which needs a
 * share above 3/4: below it, share and log ratio are uniform.
 */
static void
share_and_ratio_are_uniform(void)
{
    enum { N = 40000, BINS = 10, SIDE = 4000 };
    const double narrow[2] = {0.2, 0.7};
    double area[BINS] = {0}, aspect[BINS] = {0}, chi_a = 0, chi_r = 0;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 1, 0, 0);
    for (int i = 0; i < N; i++) {
        struct image_box box = image_crop_draw(SIDE, SIDE, narrow, ratio, &rng);
        double w = (double)box.width, h = (double)box.height;
        double a = (w * h / SIDE / SIDE - 0.2) / 0.5;
        double r = log(w / h) / (2 * log(4. / 3)) + 0.5;

        area[(int)fmin(fmax(a * BINS, 0), BINS - 1)]++;
        aspect[(int)fmin(fmax(r * BINS, 0), BINS - 1)]++;
    }
    for (int i = 0; i < BINS; i++) {
        chi_a += pow(area[i] - N / 10., 2) / (N / 10.);
        chi_r += pow(aspect[i] - N / 10., 2) / (N / 10.);
    }
    T(chi_a < 27.9, "share of the area: chi-square %g < 27.9", chi_a);
    T(chi_r < 27.9, "log ratio: chi-square %g < 27.9", chi_r);
}

static void
place_is_uniform(void)
{
    enum { N = 20000 };
    const double one[2] = {0.25, 0.25}, square[2] = {1, 1};
    double left[5] = {0}, chi = 0;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 2, 0, 0);
    for (int i = 0; i < N; i++)
        left[image_crop_draw(8, 8, one, square, &rng).left]++;
    for (int i = 0; i < 5; i++)
        chi += pow(left[i] - N / 5., 2) / (N / 5.);
    T(chi < 18.5, "positions 0 .. 4: chi-square %g < 18.5", chi);
}

static void
centre_clamps_the_ratio(void)
{
    struct image_box wide = image_crop_centre(400, 90, ratio);
    struct image_box tall = image_crop_centre(90, 400, ratio);
    struct image_box fits = image_crop_centre(40, 32, ratio);
    struct image_box line = image_crop_centre(500, 1, (const double[]){1, 1});

    T(wide.width == 120 && wide.left == 140 && wide.height == 90, "wide");
    T(tall.height == 120 && tall.top == 140 && tall.width == 90, "tall");
    T(fits.width == 40 && fits.height == 32, "within: the whole image");
    T(line.width == 1 && line.height == 1 && line.left == 249, "a line");
}

int
main(void)
{
    boxes_stay_inside();
    share_and_ratio_are_uniform();
    place_is_uniform();
    centre_clamps_the_ratio();
    return t_done();
}
