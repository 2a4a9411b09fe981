#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/view.h"

#include "randaugment.h"

/* RandAugment's, where it is asked for; its magnitude is torchvision's. */
#define OPS(kinds, rate) .magnitude = 9, .op_kinds = (kinds), .op_rate = (rate)

/* What most recipes have in common; the rest is named in the table. */
#define USUAL                                                              \
    .scale_max = 1, .ratio_min = 3. / 4, .ratio_max = 4. / 3, .flip = 0.5, \
    .jitter = 0.8, .grey = 0.2, .sigma_min = 0.1, .sigma_max = 2, OPS(14, 1)

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
    {"isogclr-texts",
     {.size = 256,
      .scale_min = 0.5,
      .scale_max = 1,
      .ratio_min = 3. / 4,
      .ratio_max = 4. / 3,
      .flip = 0.5,
      .sigma_min = 0.1,
      .sigma_max = 2,
      .ops = 2,
      .magnitude = 7,
      .op_kinds = 10,
      .op_rate = 0.5}},
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
      .sigma_max = 1,
      OPS(14, 1)}},
};

enum kind {
    REAL,
    LEAST, /* a real that the next field must not be below */
    WHOLE, /* a size_t */
    ODD    /* a size_t, odd or 0 */
};

#define AT(field) offsetof(struct data_recipe, field)

/* What a spec may change. */
static const struct field {
    const char *name;
    size_t offset;
    double min, max;
    enum kind kind;
} fields[] = {
    {"scale-min", AT(scale_min), 1e-6, 1, LEAST},
    {"scale-max", AT(scale_max), 1e-6, 1, REAL},
    {"ratio-min", AT(ratio_min), 1e-3, 1e3, LEAST},
    {"ratio-max", AT(ratio_max), 1e-3, 1e3, REAL},
    {"flip", AT(flip), 0, 1, REAL},
    {"jitter", AT(jitter), 0, 1, REAL},
    {"brightness", AT(brightness), 0, 100, REAL},
    {"contrast", AT(contrast), 0, 100, REAL},
    {"saturation", AT(saturation), 0, 100, REAL},
    {"hue", AT(hue), 0, 0.5, REAL},
    {"grey", AT(grey), 0, 1, REAL},
    {"blur", AT(blur), 0, 1, REAL},
    {"sigma-min", AT(sigma_min), 0.01, DATA_SIGMA_MAX, LEAST},
    {"sigma-max", AT(sigma_max), 0.01, DATA_SIGMA_MAX, REAL},
    {"taps", AT(taps), 0, 1001, ODD},
    {"ops", AT(ops), 0, DATA_OPS_MAX, WHOLE},
    {"magnitude", AT(magnitude), 0, 10, REAL},
    {"op-rate", AT(op_rate), 0, 1, REAL},
    {"op-kinds", AT(op_kinds), 1, DATA_OPS, WHOLE},
};

enum {
    RECIPES = sizeof recipes / sizeof *recipes,
    FIELDS = sizeof fields / sizeof *fields,
    LIST = 240 /* bytes that the names of either need */
};

static double
get_field(const struct data_recipe *recipe, const struct field *field)
{
    const char *at = (const char *)recipe + field->offset;

    return field->kind >= WHOLE ? (double)*(const size_t *)at
                                : *(const double *)at;
}

static void
set_field(struct data_recipe *recipe, const struct field *field, double x)
{
    char *at = (char *)recipe + field->offset;

    if (field->kind >= WHOLE)
        *(size_t *)at = (size_t)x;
    else
        *(double *)at = x;
}

/* Whether a field may be x, whatever the others are. */
static int
check_field(const struct field *field, double x, struct err *err)
{
    if (!(x >= field->min && x <= field->max))
        return err_set(err, "recipe: %s is %g, want a number in %g .. %g",
                       field->name, x, field->min, field->max);
    if (field->kind == WHOLE && fmod(x, 1) != 0)
        return err_set(err, "recipe: %s is %g, want a whole number",
                       field->name, x);
    if (field->kind == ODD && x != 0 && fmod(x, 2) != 1)
        return err_set(err, "recipe: %s is %g, want 0 or an odd whole number",
                       field->name, x);
    return 0;
}

int
data_recipe_check(const struct data_recipe *recipe, struct err *err)
{
    if (!recipe->size || recipe->size > DATA_SIZE_MAX)
        return err_set(err, "recipe: size is %zu, want 1 .. %d", recipe->size,
                       DATA_SIZE_MAX);
    for (const struct field *f = fields; f < fields + FIELDS; f++)
        if (check_field(f, get_field(recipe, f), err))
            return -1;
    for (const struct field *f = fields; f < fields + FIELDS; f++)
        if (f->kind == LEAST && get_field(recipe, f) > get_field(recipe, f + 1))
            return err_set(err, "recipe: %s is %g, want at most %s, %g",
                           f->name, get_field(recipe, f), f[1].name,
                           get_field(recipe, f + 1));
    return 0;
}

/* Adds a name to the list of what there is. */
static void
list_name(char text[LIST], const char *name)
{
    size_t n = strlen(text);

    snprintf(text + n, LIST - n, "%s%s", n ? "|" : "", name);
}

static int
is_name(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && !memcmp(name, text, len);
}

static int
find_recipe(const char *name, size_t len, struct data_recipe *recipe,
            struct err *err)
{
    char names[LIST] = "";

    for (size_t i = 0; i < RECIPES; i++) {
        if (is_name(recipes[i].name, name, len)) {
            *recipe = recipes[i].recipe;
            return 0;
        }
        list_name(names, recipes[i].name);
    }
    return err_set(err, "no recipe '%.*s': there are %s", (int)len, name,
                   names);
}

static const struct field *
find_field(const char *name, size_t len, struct err *err)
{
    char names[LIST] = "";

    for (const struct field *f = fields; f < fields + FIELDS; f++) {
        if (is_name(f->name, name, len))
            return f;
        list_name(names, f->name);
    }
    err_set(err, "recipe: no field '%.*s': there are %s", (int)len, name,
            names);
    return NULL;
}

/* Takes one FIELD=X, up to its end; `given` has a bit for each field. */
static int
change_field(struct data_recipe *recipe, const char **text, unsigned *given,
             struct err *err)
{
    const size_t len = strcspn(*text, "=,");
    const struct field *field = find_field(*text, len, err);
    const char *number = *text + len + ((*text)[len] == '=');
    char *end;
    double x = strtod(number, &end);

    if (!field)
        return -1;
    if (*given >> (field - fields) & 1)
        return err_set(err, "recipe: %s is given twice", field->name);
    *given |= 1U << (field - fields);
    if (end == number || (*end && *end != ','))
        return err_set(err, "recipe: %s is '%.*s', want a number in %g .. %g",
                       field->name, (int)strcspn(number, ","), number,
                       field->min, field->max);
    if (check_field(field, x, err))
        return -1;
    set_field(recipe, field, x + 0); // no -0: equal recipes are equal bytes
    *text = end;
    return 0;
}

int
data_recipe_find(const char *spec, struct data_recipe *recipe, struct err *err)
{
    const char *at = spec + strcspn(spec, ",");
    struct data_recipe made;
    unsigned given = 0;

    if (find_recipe(spec, (size_t)(at - spec), &made, err))
        return -1;
    while (*at == ',') {
        at++;
        if (change_field(&made, &at, &given, err))
            return -1;
    }
    if (data_recipe_check(&made, err))
        return -1;
    *recipe = made;
    return 0;
}
