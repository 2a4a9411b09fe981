#include <string.h>

#include "image/corrupt.h"
#include "image/generate.h"
#include "t.h"
#include "util/mem.h"

enum { MANY = 16 };

static struct image
picture(uint64_t id, size_t size)
{
    struct image image = {0};
    char caption[IMAGE_GENERATE_CAPTION];

    image_size(&image, size, size);
    image_generate(1, id, size, image.pixel, caption);
    return image;
}

/* Computes the root mean square difference, in levels. */
static double
distance(const struct image *a, const struct image *b)
{
    const size_t bytes = 3 * a->width * a->height;
    double sum = 0;

    for (size_t i = 0; i < bytes; i++)
        sum += (a->pixel[i] - b->pixel[i]) * (a->pixel[i] - b->pixel[i]);
    return sqrt(sum / (double)bytes);
}

/* Computes the mean damage of a kind over MANY pictures. */
static double
damage(size_t kind, int severity, size_t size)
{
    struct image out = {0};
    double sum = 0;

    for (uint64_t id = 0; id < MANY; id++) {
        struct image image = picture(id, size);

        image_corrupt(kind, severity, 1, id, &image, &out);
        sum += distance(&image, &out) / MANY;
        image_release(&image);
    }
    image_release(&out);
    return sum;
}

static void
damage_rises(size_t kind)
{
    const char *name = image_corrupt_name(kind);
    // the first two reduce saturation, the others raise it
    const int turn = strcmp(name, "saturate") ? 0 : 3;
    double level[IMAGE_SEVERITIES];
    int rises = 1;

    for (int s = 0; s < IMAGE_SEVERITIES; s++) {
        level[s] = damage(kind, s + 1, 32);
        if (s && s + 1 != turn)
            rises &= level[s] > 1.03 * level[s - 1];
    }
    T(rises, "%s: %.1f %.1f %.1f %.1f %.1f levels", name, level[0], level[1],
      level[2], level[3], level[4]);
    T(level[0] > 1 && (turn || level[0] < 25), "the first is weak");
}

static size_t
kind_of(const char *name)
{
    struct err err;
    size_t kind = 0;

    T(!image_corrupt_find(name, &kind, &err), "there is %s", name);
    return kind;
}

static void
names_are_found(void)
{
    struct err err;
    size_t kind, right = 0;

    for (size_t k = 0; k < IMAGE_CORRUPTIONS; k++)
        right += !image_corrupt_find(image_corrupt_name(k), &kind, &err) &&
                 kind == k;
    T(right == IMAGE_CORRUPTIONS, "each kind by its name");
    T(image_corrupt_find("rust", &kind, &err) &&
          strstr(err.msg,
                 "no corruption 'rust': want one of gaussian_noise, ") &&
          strstr(err.msg, "saturate"),
      "%s", err.msg);
}

static int
same(const struct image *a, const struct image *b)
{
    return a->width == b->width && a->height == b->height &&
           !memcmp(a->pixel, b->pixel, 3 * a->width * a->height);
}

/* Kinds that use random numbers, as 0 and 1 in the order of kinds. */
static const char is_random[] = "1111"
                                "01100"
                                "11101"
                                "01000";

static void
what_is_random_is_fixed(size_t kind)
{
    const char *name = image_corrupt_name(kind);
    struct image image = picture(2, 32), out[4] = {{0}};
    int differ;

    image_corrupt(kind, 3, 1, 5, &image, &out[0]);
    image_corrupt(kind, 3, 1, 5, &image, &out[1]);
    image_corrupt(kind, 3, 1, 6, &image, &out[2]);
    image_corrupt(kind, 3, 2, 5, &image, &out[3]);
    T(same(&out[0], &out[1]), "%s: repeats exactly", name);
    differ = !same(&out[0], &out[2]) + !same(&out[0], &out[3]);
    T(differ == (is_random[kind] == '1' ? 2 : 0),
      "%s with another sample or seed", differ ? "another" : "the same");
    for (size_t i = 0; i < 4; i++)
        image_release(&out[i]);
    image_release(&image);
}

/* Blurs and moves of pixels do not change a grey wall. */
static void
walls_stay_grey(void)
{
    static const char *kinds[] = {
        "defocus_blur", "glass_blur",    "motion_blur",
        "zoom_blur",    "gaussian_blur", "elastic_transform",
        "pixelate",     "contrast",      "saturate"};
    struct image wall = {0}, out = {0};
    int stays = 1;

    image_size(&wall, 37, 20);
    memset(wall.pixel, 90, 3 * 37 * 20);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int s = 1; s <= IMAGE_SEVERITIES; s++) {
            image_corrupt(kind_of(kinds[i]), s, 1, 0, &wall, &out);
            stays &= same(&wall, &out);
        }
    T(stays, "37 x 20 pixels of one grey do not change");
    image_release(&wall);
    image_release(&out);
}

static void
noise_has_its_strength(void)
{
    struct image wall = {0}, weak = {0}, strong = {0};
    size_t lost = 0, more = 0;

    image_size(&wall, 100, 100);
    memset(wall.pixel, 128, 30000);
    image_corrupt(kind_of("gaussian_noise"), 3, 1, 0, &wall, &weak);
    T_NEAR(distance(&wall, &weak), .08 * 255, .02, "gaussian_noise: .08");
    image_corrupt(kind_of("speckle_noise"), 5, 1, 0, &wall, &weak);
    T_NEAR(distance(&wall, &weak), .2 * 128, .02, "speckle_noise: .2 of it");
    image_corrupt(kind_of("shot_noise"), 5, 1, 0, &wall, &weak);
    T_NEAR(distance(&wall, &weak), 255 * sqrt(128. / 255 / 50), .03,
           "shot_noise: the root of 25 photons");
    image_corrupt(kind_of("shot_noise"), 1, 1, 0, &wall, &weak);
    T_NEAR(distance(&wall, &weak), 255 * sqrt(128. / 255 / 500), .03,
           "shot_noise: the root of 250 photons");
    image_corrupt(kind_of("impulse_noise"), 1, 1, 0, &wall, &weak);
    image_corrupt(kind_of("impulse_noise"), 5, 1, 0, &wall, &strong);
    for (size_t i = 0; i < 30000; i++) {
        lost += strong.pixel[i] != 128;
        more += weak.pixel[i] != 128 && strong.pixel[i] == 128;
    }
    T(fabs((double)lost - 2100) < 200, "impulse_noise: %zu of 30000", lost);
    T(more == 0, "severities of a sample share random numbers");
    image_release(&wall);
    image_release(&weak);
    image_release(&strong);
}

/* Brightness rises, ratios of colours stay. */
static void
brightness_keeps_the_hue(void)
{
    struct image image = {0}, out = {0};
    static const uint8_t in[] = {0, 0, 0, 60, 120, 30, 255, 128, 0};
    static const uint8_t want[] = {51, 51, 51, 86, 171, 43, 255, 128, 0};

    image_size(&image, 3, 1);
    memcpy(image.pixel, in, sizeof in);
    image_corrupt(kind_of("brightness"), 4, 1, 0, &image, &out);
    T(!memcmp(out.pixel, want, sizeof want), "brightness: value + .2");
    image_release(&image);
    image_release(&out);
}

/* A picture of twice the size is blurred twice as wide. */
static void
lengths_grow_with_the_picture(void)
{
    const size_t kind = kind_of("gaussian_blur");
    struct image small = picture(3, 32), large = {0}, out = {0};
    double want;

    image_size(&large, 64, 64);
    for (size_t i = 0; i < 64 * 64; i++)
        memcpy(large.pixel + 3 * i,
               small.pixel + 3 * (i / 128 * 32 + i % 64 / 2), 3);
    image_corrupt(kind, 5, 1, 0, &small, &out);
    want = distance(&small, &out);
    image_corrupt(kind, 5, 1, 0, &large, &out);
    T_NEAR(distance(&large, &out) / want, 1, .1,
           "lengths are proportional to the size");
    image_release(&small);
    image_release(&large);
    image_release(&out);
}

static void
any_size_will_do(void)
{
    static const size_t side[][2] = {{1, 1}, {1, 9}, {8, 3}, {50, 33}};
    struct image image = {0}, out = {0};
    int fits = 1;

    for (size_t i = 0; i < 4; i++)
        for (size_t kind = 0; kind < IMAGE_CORRUPTIONS; kind++) {
            image_size(&image, side[i][0], side[i][1]);
            memset(image.pixel, 200, 3 * side[i][0] * side[i][1]);
            image_corrupt(kind, 5, 1, 0, &image, &out);
            fits &= out.width == side[i][0] && out.height == side[i][1];
        }
    T(fits, "sizes from 1 x 1 on");
    image_release(&image);
    image_release(&out);
}

int
main(void)
{
    for (size_t kind = 0; kind < IMAGE_CORRUPTIONS; kind++)
        damage_rises(kind);
    for (size_t kind = 0; kind < IMAGE_CORRUPTIONS; kind++)
        what_is_random_is_fixed(kind);
    names_are_found();
    walls_stay_grey();
    noise_has_its_strength();
    brightness_keeps_the_hue();
    lengths_grow_with_the_picture();
    any_size_will_do();
    return t_done();
}
