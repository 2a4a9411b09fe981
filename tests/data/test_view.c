#include <stdlib.h>
#include <string.h>

#include "data/view.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIDE = 16, BYTES = SIDE * SIDE * 3, MANY = 40000 };

static struct data_scratch *scratch;
static uint8_t pixel[BYTES];
static const struct data_image image = {pixel, SIDE, SIDE, BYTES};

static struct data_recipe
recipe(const char *name)
{
    struct data_recipe r = {0};
    struct err err;

    T(!data_recipe_find(name, &r, &err) && !data_recipe_check(&r, &err),
      "recipe %s is there, and in range", name);
    r.size = SIDE;
    return r;
}

static void
noise(void)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < BYTES; i++)
        pixel[i] = (uint8_t)rng_below(&rng, 256);
}

/* Share of MANY views that differ from the image; four standard errors. */
static double
changed(const struct data_recipe *r)
{
    double n = 0;

    for (uint64_t i = 0; i < MANY; i++) {
        uint8_t out[BYTES];

        data_view(r, &image, 7, i, 0, 0, &scratch, out);
        n += !!memcmp(out, pixel, BYTES);
    }
    return n / MANY;
}

static void
rates(void)
{
    struct data_recipe r = recipe("none");

    T(changed(&r) == 0, "none: the image itself");
    r.flip = 0.5;
    T_NEAR(changed(&r), 0.5, 0.01, "flip rate");
    r.flip = 0;
    r.grey = 0.2;
    T_NEAR(changed(&r), 0.2, 0.008, "grey rate");
    r.grey = 0;
    r.jitter = 0.8;
    r.brightness = 0.4;
    T_NEAR(changed(&r), 0.8, 0.008, "jitter rate");
    r.jitter = 0;
    r.blur = 0.5;
    r.sigma_min = r.sigma_max = 1;
    T_NEAR(changed(&r), 0.5, 0.01, "blur rate");
}

static void
flip_and_grey_are_themselves(void)
{
    struct data_recipe r = recipe("none");
    uint8_t out[BYTES];
    int wrong = 0;

    r.flip = 1;
    data_view(&r, &image, 7, 0, 0, 0, &scratch, out);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        wrong += !!memcmp(out + 3 * i,
                          pixel + 3 * (i - i % SIDE + SIDE - 1 - i % SIDE), 3);
    T(!wrong, "flip mirrors");
    r.grey = 1;
    data_view(&r, &image, 7, 0, 0, 0, &scratch, out);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        wrong += out[3 * i] != out[3 * i + 1] || out[3 * i] != out[3 * i + 2];
    T(!wrong, "grey has three equal channels");
}

/* The largest channel of a pixel: what a turn of the hue leaves alone. */
static int
largest(const uint8_t *p)
{
    return p[0] > p[1] ? p[0] > p[2] ? p[0] : p[2] : p[1] > p[2] ? p[1] : p[2];
}

static void
a_step_of_strength_0_is_left_out(void)
{
    struct data_recipe hue = recipe("none"), light = hue;
    uint8_t out[BYTES];
    int wrong = 0, factor = 0;

    hue.jitter = light.jitter = 1;
    hue.hue = 0.5;
    light.brightness = 0.5;
    data_view(&hue, &image, 7, 0, 0, 0, &scratch, out);
    for (size_t i = 0; i < BYTES; i += 3)
        wrong += largest(out + i) != largest(pixel + i);
    T(!wrong && memcmp(out, pixel, BYTES), "hue alone: the largest stays");
    for (uint64_t i = 0; i < 20; i++) {
        double want = -1;

        data_view(&light, &image, 7, i, 0, 0, &scratch, out);
        for (size_t j = 0; j < BYTES; j++)
            if (pixel[j] > 200 && out[j] < 255 && want < 0)
                want = out[j] / (double)pixel[j];
        for (size_t j = 0; j < BYTES; j++)
            wrong += want > 0 && fabs(fmin(255, want * pixel[j]) - out[j]) > 2;
        factor += want > 0 && fabs(want - 1) <= 0.5;
    }
    T(!wrong && factor > 5, "brightness alone: one factor, in 0.5 .. 1.5");
}

static void
bytes_depend_on_the_four_numbers_alone(void)
{
    static const uint64_t key[][4] = {
        {1, 5, 2, 0}, {2, 5, 2, 0}, {1, 6, 2, 0}, {1, 5, 3, 0}, {1, 5, 2, 1},
    };
    struct data_recipe r = recipe("cifar");
    struct data_scratch *other = NULL;
    uint8_t out[5][BYTES], again[BYTES];
    int same = 0;

    for (size_t i = 0; i < 5; i++) {
        data_view(&r, &image, key[i][0], key[i][1], key[i][2], key[i][3],
                  &scratch, out[i]);
        for (size_t j = 0; j < i; j++)
            same += !memcmp(out[i], out[j], BYTES);
    }
    T(!same, "seed, sample, epoch and view each change the view");
    data_view(&r, &image, 1, 5, 2, 0, &other, again);
    T(!memcmp(again, out[0], BYTES), "the same four: the same bytes, later");
    data_scratch_free(other);
}

/* A ramp of 8 x 12: the short side to 4, the long one to 6, rows 1 .. 4. */
static void
plain_is_resize_and_crop(void)
{
    uint8_t tall[8 * 12 * 3], out[4 * 4 * 3], same[BYTES];
    struct data_image ramp = {tall, 8, 12, sizeof tall};
    int wrong = 0;

    for (size_t i = 0; i < sizeof tall; i++)
        tall[i] = (uint8_t)(i / 24 * 20);
    data_plain(4, &ramp, &scratch, out);
    for (size_t i = 0; i < sizeof out; i++)
        wrong += out[i] != 50 + i / 12 * 40;
    T(!wrong, "short side resized, centre cropped");
    data_plain(SIDE, &image, &scratch, same);
    T(!memcmp(same, pixel, BYTES), "an image of that size is copied");
}

static void
given_fields_replace(void)
{
    struct data_recipe r = recipe("emc2"), was = r;
    struct data_recipe given = DATA_RECIPE_UNCHANGED;

    data_recipe_change(&r, &given);
    T(!memcmp(&r, &was, sizeof r), "nothing given: nothing changed");
    given.hue = 0;
    given.taps = 9;
    data_recipe_change(&r, &given);
    T(r.hue == 0 && r.taps == 9 && r.blur == was.blur && r.size == was.size,
      "what is given, and that alone");
}

static void
wrong_recipes_are_refused(void)
{
    struct data_recipe r = recipe("emc2"), bad = r;
    struct err err;

    T(data_recipe_find("simclr", &r, &err) && strstr(err.msg, "cifar|"),
      "an unknown name, with the list: %s", err.msg);
    bad.hue = 0.6;
    T(data_recipe_check(&bad, &err) && strstr(err.msg, "hue"), "%s", err.msg);
    bad = r;
    bad.scale_min = NAN;
    T(data_recipe_check(&bad, &err), "%s", err.msg);
    bad = r;
    bad.taps = 4;
    T(data_recipe_check(&bad, &err) && strstr(err.msg, "odd"), "%s", err.msg);
    bad.taps = 5;
    T(!data_recipe_check(&bad, &err), "taps 5 are fine");
}

int
main(void)
{
    noise();
    rates();
    flip_and_grey_are_themselves();
    a_step_of_strength_0_is_left_out();
    bytes_depend_on_the_four_numbers_alone();
    plain_is_resize_and_crop();
    given_fields_replace();
    wrong_recipes_are_refused();
    data_scratch_free(scratch);
    return t_done();
}
