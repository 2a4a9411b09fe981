#include <math.h>
#include <string.h>

#include "data/blur.h"
#include "data/view.h"

/* What most recipes have in common; the rest is named in the table. */
#define USUAL                                                              \
    .scale_max = 1, .ratio_min = 3. / 4, .ratio_max = 4. / 3, .flip = 0.5, \
    .jitter = 0.8, .grey = 0.2, .sigma_min = 0.1, .sigma_max = 2

#define JITTER(b, c, s, h) \
    .brightness = b, .contrast = c, .saturation = s, .hue = h

static const struct {
    const char *name;
    struct data_recipe recipe;
} recipes[] = {
    {"cifar", {USUAL, .size = 32, .scale_min = 0.2, JITTER(.4, .4, .4, .1)}},
    {"imagenet",
     {USUAL, .size = 224, .scale_min = 0.08, JITTER(.8, .8, .8, .2),
      .blur = 0.5}},
    {"emc2",
     {USUAL, .size = 96, .scale_min = 0.08, JITTER(.8, .8, .8, .2), .blur = 1}},
    {"emc2-imagenet",
     {USUAL, .size = 224, .scale_min = 0.08, JITTER(.4, .4, .2, .1),
      .blur = 1}},
    {"isogclr",
     {USUAL, .size = 32, .scale_min = 0.2, JITTER(.4, .4, .4, .1),
      .blur = 0.5}},
    {"minibatch",
     {USUAL, .size = 224, .scale_min = 0.08, JITTER(.4, .4, .2, .1),
      .blur = 1}},
    {"sogclr", {USUAL, .size = 32, .scale_min = 0.08, JITTER(.4, .4, .2, .1)}},
    {"none",
     {.size = 32,
      .scale_min = 1,
      .scale_max = 1,
      .ratio_min = 1,
      .ratio_max = 1,
      .sigma_min = 1,
      .sigma_max = 1}},
};

int
data_recipe_find(const char *name, struct data_recipe *recipe, struct err *err)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        if (strcmp(recipes[i].name, name))
            continue;
        *recipe = recipes[i].recipe;
        return 0;
    }
    return err_set(err, "no recipe '%s': there are %s", name, DATA_RECIPES);
}

static void
change(double *field, double given)
{
    if (!isnan(given))
        *field = given;
}

void
data_recipe_change(struct data_recipe *r, const struct data_recipe *given)
{
    r->size = given->size ? given->size : r->size;
    change(&r->scale_min, given->scale_min);
    change(&r->scale_max, given->scale_max);
    change(&r->ratio_min, given->ratio_min);
    change(&r->ratio_max, given->ratio_max);
    change(&r->flip, given->flip);
    change(&r->jitter, given->jitter);
    change(&r->brightness, given->brightness);
    change(&r->contrast, given->contrast);
    change(&r->saturation, given->saturation);
    change(&r->hue, given->hue);
    change(&r->grey, given->grey);
    change(&r->blur, given->blur);
    change(&r->sigma_min, given->sigma_min);
    change(&r->sigma_max, given->sigma_max);
    r->taps = given->taps ? given->taps : r->taps;
}

int
data_recipe_check(const struct data_recipe *r, struct err *err)
{
    const struct {
        const char *name;
        double value, min, max;
    } field[] = {
        {"size", (double)r->size, 1, DATA_SIZE_MAX},
        {"scale_min", r->scale_min, 1e-6, r->scale_max},
        {"scale_max", r->scale_max, r->scale_min, 1},
        {"ratio_min", r->ratio_min, 1e-3, r->ratio_max},
        {"ratio_max", r->ratio_max, r->ratio_min, 1e3},
        {"flip", r->flip, 0, 1},
        {"jitter", r->jitter, 0, 1},
        {"brightness", r->brightness, 0, 100},
        {"contrast", r->contrast, 0, 100},
        {"saturation", r->saturation, 0, 100},
        {"hue", r->hue, 0, 0.5},
        {"grey", r->grey, 0, 1},
        {"blur", r->blur, 0, 1},
        {"sigma_min", r->sigma_min, 0.01, r->sigma_max},
        {"sigma_max", r->sigma_max, r->sigma_min, DATA_SIGMA_MAX},
        {"taps", (double)r->taps, 0, 1001},
    };

    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (!(field[i].value >= field[i].min && field[i].value <= field[i].max))
            return err_set(err, "recipe: %s is %g, not in %g .. %g",
                           field[i].name, field[i].value, field[i].min,
                           field[i].max);
    if (r->taps && r->taps % 2 == 0)
        return err_set(err, "recipe: taps is %zu, not odd", r->taps);
    return 0;
}
