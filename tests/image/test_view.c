#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "image/blur.h"
#include "image/view.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIDE = 16, BYTES = SIDE * SIDE * 3, MANY = 40000 };

static struct image_scratch *scratch;
static uint8_t pixel[BYTES];
static const struct image image = {
    .pixel = pixel, .width = SIDE, .height = SIDE};

static struct image_recipe
recipe(const char *spec)
{
    struct image_recipe r = {0};
    struct err err;

    T(!image_recipe_find(spec, &r, &err) && !image_recipe_check(&r, &err),
      "recipe %s exists, and is in range", spec);
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

/* Computes the share of MANY views that differ from the image; four standard
 * errors. */
static double
changed(const struct image_recipe *r)
{
    double n = 0;

    for (uint64_t i = 0; i < MANY; i++) {
        uint8_t out[BYTES];

        image_view(r, &image, 7, i, 0, 0, &scratch, out);
        n += !!memcmp(out, pixel, BYTES);
    }
    return n / MANY;
}

static void
rates(void)
{
    struct image_recipe r = recipe("none");

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
    struct image_recipe r = recipe("none");
    uint8_t out[BYTES];
    int wrong = 0;

    r.flip = 1;
    image_view(&r, &image, 7, 0, 0, 0, &scratch, out);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        wrong += !!memcmp(out + 3 * i,
                          pixel + 3 * (i - i % SIDE + SIDE - 1 - i % SIDE), 3);
    T(!wrong, "flip mirrors");
    r.grey = 1;
    image_view(&r, &image, 7, 0, 0, 0, &scratch, out);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        wrong += out[3 * i] != out[3 * i + 1] || out[3 * i] != out[3 * i + 2];
    T(!wrong, "grey has three equal channels");
}

/* Checks against the operators, one after another. */
static void
grey_is_blurred_as_grey(void)
{
    struct image_recipe r = recipe("none");
    uint8_t grey[BYTES], out[BYTES], plane[SIDE * SIDE];
    int wrong[2] = {0, 0};

    r.grey = 1;
    image_view(&r, &image, 7, 0, 0, 0, &scratch, grey);
    r.blur = 1;
    r.sigma_min = r.sigma_max = 1.5;
    for (int k = 0; k < 2; k++) {
        r.taps = k ? 5 : 0;
        image_view(&r, &image, 7, 0, 0, 0, &scratch, out);
        for (size_t i = 0; i < SIDE * SIDE; i++)
            plane[i] = grey[3 * i];
        if (k)
            image_blur_kernel(SIDE, SIDE, 5, 1.5, plane, &scratch);
        else
            image_blur_box(SIDE, SIDE, 1.5, plane, &scratch);
        for (size_t i = 0; i < BYTES; i++)
            wrong[k] += out[i] != plane[i / 3];
    }
    T(!wrong[0] && !wrong[1], "grey and blurred: each channel is the blur of "
                              "the grey one, by boxes and by a kernel");
}

/* Returns the largest channel of a pixel, which a rotation of the hue does not
 * change. */
static int
largest(const uint8_t *p)
{
    return p[0] > p[1] ? p[0] > p[2] ? p[0] : p[2] : p[1] > p[2] ? p[1] : p[2];
}

static void
a_step_of_strength_0_is_skipped(void)
{
    struct image_recipe hue = recipe("none"), light = hue;
    uint8_t out[BYTES];
    int wrong = 0, factor = 0;

    hue.jitter = light.jitter = 1;
    hue.hue = 0.5;
    light.brightness = 0.5;
    image_view(&hue, &image, 7, 0, 0, 0, &scratch, out);
    for (size_t i = 0; i < BYTES; i += 3)
        wrong += largest(out + i) != largest(pixel + i);
    T(!wrong && memcmp(out, pixel, BYTES), "hue alone: the largest stays");
    for (uint64_t i = 0; i < 20; i++) {
        double want = -1;

        image_view(&light, &image, 7, i, 0, 0, &scratch, out);
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
    struct image_recipe r = recipe("cifar");
    struct image_scratch *other = NULL;
    uint8_t out[5][BYTES], again[BYTES];
    int same = 0;

    for (size_t i = 0; i < 5; i++) {
        image_view(&r, &image, key[i][0], key[i][1], key[i][2], key[i][3],
                   &scratch, out[i]);
        for (size_t j = 0; j < i; j++)
            same += !memcmp(out[i], out[j], BYTES);
    }
    T(!same, "seed, sample, epoch and view each change the view");
    image_view(&r, &image, 1, 5, 2, 0, &other, again);
    T(!memcmp(again, out[0], BYTES), "the same four: the same bytes again");
    image_scratch_free(other);
}

/* A ramp of 8 x 12: the short side to 4, the long one to 6, rows 1 .. 4. */
static void
plain_is_resize_and_crop(void)
{
    uint8_t tall[8 * 12 * 3], out[4 * 4 * 3], same[BYTES];
    struct image ramp = {.pixel = tall, .width = 8, .height = 12};
    int wrong = 0;

    for (size_t i = 0; i < sizeof tall; i++)
        tall[i] = (uint8_t)(i / 24 * 20);
    image_plain(4, &ramp, &scratch, out);
    for (size_t i = 0; i < sizeof out; i++)
        wrong += out[i] != 50 + i / 12 * 40;
    T(!wrong, "short side resized, centre cropped");
    image_plain(SIDE, &image, &scratch, same);
    T(!memcmp(same, pixel, BYTES), "an image of that size is copied");
}

static struct image_recipe spec_made;

/* Each field, in the order of the table; whole: 1 for a size_t. */
static const struct {
    const char *field;
    void *at;
    double x;
    int whole;
} fields[] = {
    {"scale-min", &spec_made.scale_min, 0.25, 0},
    {"scale-max", &spec_made.scale_max, 0.5, 0},
    {"ratio-min", &spec_made.ratio_min, 0.5, 0},
    {"ratio-max", &spec_made.ratio_max, 2, 0},
    {"flip", &spec_made.flip, 0.25, 0},
    {"jitter", &spec_made.jitter, 0.75, 0},
    {"brightness", &spec_made.brightness, 100, 0},
    {"contrast", &spec_made.contrast, 0.125, 0},
    {"saturation", &spec_made.saturation, 3, 0},
    {"hue", &spec_made.hue, 0.5, 0},
    {"grey", &spec_made.grey, 1, 0},
    {"blur", &spec_made.blur, 0.0625, 0},
    {"sigma-min", &spec_made.sigma_min, 0.5, 0},
    {"sigma-max", &spec_made.sigma_max, 100, 0},
    {"taps", &spec_made.taps, 1001, 1},
    {"ops", &spec_made.ops, 3, 1},
    {"magnitude", &spec_made.magnitude, 2.5, 0},
    {"op-rate", &spec_made.op_rate, 0.25, 0},
    {"op-kinds", &spec_made.op_kinds, 2, 1},
    {"noise", &spec_made.noise, 0.5, 0},
    {"drop", &spec_made.drop, 0.25, 0},
};
enum { N = sizeof fields / sizeof *fields };

static void
each_field_has_a_row(void)
{
    const struct image_field *field;

    for (size_t i = 0; (field = image_recipe_field(i)); i++)
        T(i < N && !strcmp(field->name, fields[i].field),
          "field %s has a row of this test", field->name);
}

/* A spec changes each field, and no other. */
static void
a_spec_changes_fields(void)
{
    const struct image_recipe was = recipe("cifar");

    for (size_t i = 0; i < N; i++) {
        const size_t offset =
            (size_t)((char *)fields[i].at - (char *)&spec_made);
        const size_t whole = (size_t)fields[i].x;
        struct image_recipe want = was;
        char spec[64];

        snprintf(spec, sizeof spec, "cifar,%s=%g", fields[i].field,
                 fields[i].x);
        if (fields[i].whole)
            memcpy((char *)&want + offset, &whole, sizeof whole);
        else
            memcpy((char *)&want + offset, &fields[i].x, sizeof fields[i].x);
        spec_made = recipe(spec);
        T(!memcmp(&spec_made, &want, sizeof want) &&
              memcmp(&spec_made, &was, sizeof was),
          "%s, and no other", spec);
        T(image_recipe_get(&spec_made, i) == fields[i].x,
          "image_recipe_get() returns the value of the spec");
    }
}

static void
a_spec_changes_what_belongs_together(void)
{
    const struct image_recipe was = recipe("cifar");
    struct image_recipe r = recipe("cifar,taps=1001");
    struct err err;

    T(r.taps == 1001 && r.sigma_max == was.sigma_max, "taps, a whole number");
    r = recipe("emc2,hue=0,taps=9,scale-max=5e-1");
    T(r.hue == 0 && r.taps == 9 && r.scale_max == 0.5 && r.blur == 1,
      "several at once");
    r = recipe("cifar,scale-max=.1,scale-min=.1");
    T(r.scale_min == 0.1 && r.scale_max == 0.1, "ranges move in any order");
    r = recipe("isogclr-texts,ops=3,op-kinds=14");
    T(r.ops == 3 && r.op_kinds == 14 && r.magnitude == 7 && r.op_rate == 0.5,
      "number and kinds of operations");
    T(!image_recipe_find("emc2,hue=.1", &r, &err) && r.size == 96,
      "the size is the recipe's");
}

static const struct {
    const char *spec, *message;
} wrong[] = {
    {"simclr", "no recipe 'simclr': there are cifar imagenet "},
    {"", "no recipe '': there are cifar"},
    {"cifa", "no recipe 'cifa': there are cifar"},
    {"hue=0", "no recipe 'hue=0': there are cifar"},
    {"cifar,hu=0", "no field 'hu': there are scale-min scale-max "},
    {"cifar,size=8", "no field 'size': there are "},
    {"cifar,scale_min=1", "no field 'scale_min': there are scale-min "},
    {"cifar,", "no field '': there are "},
    {"cifar,,hue=0", "no field '': there are "},
    {"cifar,hue=0,", "no field '': there are "},
    {"cifar, hue=0", "no field ' hue': there are "},
    {"cifar,hue", "hue is '', want a number in 0 .. 0.5"},
    {"cifar,hue=,flip=0", "hue is '', want a number in 0 .. 0.5"},
    {"cifar,hue=red,flip=0", "hue is 'red', want a number in 0 .. 0.5"},
    {"cifar,hue=0.1x", "hue is '0.1x', want a number in 0 .. 0.5"},
    {"cifar,hue=0.1 ", "hue is '0.1 ', want a number in 0 .. 0.5"},
    {"cifar,hue=0.1=0", "hue is '0.1=0', want a number in 0 .. 0.5"},
    {"cifar,hue=nan", "hue is nan, want a number in 0 .. 0.5"},
    {"cifar,brightness=inf", "brightness is inf, want a number in 0 .. "},
    {"cifar,hue=0,flip=0,hue=0", "hue is given twice"},
    {"cifar,hue=0.6", "hue is 0.6, want a number in 0 .. 0.5"},
    {"cifar,flip=-1", "flip is -1, want a number in 0 .. 1"},
    {"cifar,taps=-1", "taps is -1, want a number in 0 .. 1001"},
    {"cifar,taps=1e30", "taps is 1e+30, want a number in 0 .. 1001"},
    {"cifar,taps=4", "taps is 4, want 0 or an odd whole number"},
    {"cifar,taps=3.5", "taps is 3.5, want 0 or an odd whole number"},
    {"cifar,ops=1.5", "ops is 1.5, want a whole number"},
    {"cifar,ops=17", "ops is 17, want a number in 0 .. 16"},
    {"cifar,op-kinds=0", "op-kinds is 0, want a number in 1 .. 14"},
    {"cifar,scale-max=.1", "scale-min is 0.2, want at most scale-max, 0.1"},
    {"cifar,ratio-min=2", "ratio-min is 2, want at most ratio-max, 1.33"},
    {"emc2,sigma-min=3", "sigma-min is 3, want at most sigma-max, 2"},
};

static void
wrong_specs_are_refused(void)
{
    const struct image_recipe was = recipe("emc2");
    struct image_recipe r = was;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {""};

        T(image_recipe_find(wrong[i].spec, &r, &err) &&
              strstr(err.msg, wrong[i].message),
          "'%s': %s", wrong[i].spec, err.msg);
    }
    T(!memcmp(&r, &was, sizeof r), "wrong specs change nothing");
}

static void
wrong_recipes_are_refused(void)
{
    const struct image_recipe good = recipe("emc2,taps=5");
    struct image_recipe bad = good;
    struct err err;

    bad.scale_min = NAN;
    T(image_recipe_check(&bad, &err) && strstr(err.msg, "scale-min is nan"),
      "%s", err.msg);
    bad = good;
    bad.taps = 4;
    T(image_recipe_check(&bad, &err) && strstr(err.msg, "odd"), "%s", err.msg);
    bad = good;
    bad.size = 0;
    T(image_recipe_check(&bad, &err) && strstr(err.msg, "size"), "%s", err.msg);
    bad.size = IMAGE_SIZE_MAX + 1;
    T(image_recipe_check(&bad, &err) && strstr(err.msg, "4096"), "%s", err.msg);
}

static void
make_plain(const void *arg)
{
    static uint8_t out[BYTES];

    image_plain(SIDE, arg, &scratch, out);
}

static void
make_view(const void *arg)
{
    static uint8_t out[BYTES];
    const struct image_recipe r = recipe("cifar");

    image_view(&r, arg, 1, 0, 0, 0, &scratch, out);
}

static void
an_empty_image_is_a_bug(void)
{
    static const struct image empty[] = {{.pixel = pixel, .height = SIDE},
                                         {.pixel = pixel, .width = SIDE},
                                         {.pixel = pixel}};

    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct child plain = child_run(make_plain, &empty[i]);
        struct child view = child_run(make_view, &empty[i]);

        T(plain.signal == SIGABRT && strstr(plain.err, "BUG: lib/image/view.c"),
          "a plain view of %zu x %zu pixels aborts with a sentence",
          empty[i].width, empty[i].height);
        T(view.signal == SIGABRT && strstr(view.err, "BUG: lib/image/"),
          "a random view of an empty image aborts with a sentence");
    }
}

static void
groups_have_sizes(void)
{
    static const char *const bad[] = {
        "",       "0",   "65",        "2x",         "2x0",           "2x32+",
        "2x32+6", "2+6", "2x32+6x32", "60x32+5x16", "2x32+6x16+1x8", "2x32 "};
    struct image_groups groups;
    struct err err;

    T(!image_groups_parse("8", 64, &groups, &err) && groups.n == 1 &&
          groups.of[0].views == 8 && !groups.of[0].size,
      "eight views");
    T(!image_groups_parse("2x32+6x16", 64, &groups, &err) && groups.n == 2 &&
          groups.of[0].views == 2 && groups.of[0].size == 32 &&
          groups.of[1].views == 6 && groups.of[1].size == 16,
      "two groups of views");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(image_groups_parse(bad[i], 64, &groups, &err) &&
              strstr(err.msg, "2x32+6x16"),
          "'%s' is refused: %s", bad[i], err.msg);
}

static void
sizes_change_by_epoch(void)
{
    const int64_t most = UINT32_MAX;
    struct image_sizes sizes;
    struct err err;

    T(!image_sizes_parse("40", &sizes, &err) && sizes.n == 1 &&
          image_sizes_at(&sizes, 0) == 40 && image_sizes_at(&sizes, most) == 40,
      "one size is for all epochs");
    T(!image_sizes_parse("16@0,32@8,24@9", &sizes, &err) && sizes.n == 3,
      "three sizes");
    T(image_sizes_at(&sizes, 0) == 16 && image_sizes_at(&sizes, 7) == 16 &&
          image_sizes_at(&sizes, 8) == 32 && image_sizes_at(&sizes, 9) == 24 &&
          image_sizes_at(&sizes, most) == 24,
      "each is for the epochs up to the next");
    T(image_sizes_largest(&sizes) == 32, "the largest is neither at an end");
    T(!image_sizes_parse("1,2@1,3@2,4@3,5@4,6@5,7@6,8@7,9@8,10@9,11@10,12@11,"
                         "13@12,14@13,15@14,4096@4294967295",
                         &sizes, &err) &&
          sizes.n == IMAGE_SIZES_MAX && image_sizes_at(&sizes, most) == 4096,
      "16 sizes, and the largest numbers");
}

int
main(void)
{
    groups_have_sizes();
    sizes_change_by_epoch();
    noise();
    rates();
    flip_and_grey_are_themselves();
    grey_is_blurred_as_grey();
    a_step_of_strength_0_is_skipped();
    bytes_depend_on_the_four_numbers_alone();
    plain_is_resize_and_crop();
    each_field_has_a_row();
    a_spec_changes_fields();
    a_spec_changes_what_belongs_together();
    wrong_specs_are_refused();
    wrong_recipes_are_refused();
    an_empty_image_is_a_bug();
    image_scratch_free(scratch);
    return t_done();
}
