#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "image/view.h"

#include "randaugment.h"

/* Defaults of RandAugment; the magnitude is torchvision's. */
#define OPS(kinds, rate) .magnitude = 9, .op_kinds = (kinds), .op_rate = (rate)

/* The common fields of most recipes; the table has the others. */
#define USUAL                                                              \
    .scale_max = 1, .ratio_min = 3. / 4, .ratio_max = 4. / 3, .flip = 0.5, \
    .jitter = 0.8, .grey = 0.2, .sigma_min = 0.1, .sigma_max = 2,          \
    OPS(IMAGE_OPS, 1)

#define PLAIN                                                   \
    .size = 32, .scale_min = 1, .scale_max = 1, .ratio_min = 1, \
    .ratio_max = 1, .sigma_min = 1, .sigma_max = 1, OPS(IMAGE_OPS, 1)

#define JITTER(b, c, s, h) \
    .brightness = b, .contrast = c, .saturation = s, .hue = h

static const struct {
    const char *name;
    struct image_recipe recipe;
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
    {"none", {PLAIN}},
    {"rows", {PLAIN, .noise = 0.5, .drop = 0.1}},
};

enum kind {
    REAL,
    LEAST, /* a real that the next field must not be below */
    WHOLE, /* a size_t */
    ODD    /* a size_t, odd or 0 */
};

#define AT(field) offsetof(struct image_recipe, field)

/* Fields that a spec may change. */
static const struct field {
    struct image_field is;
    size_t offset;
    enum kind kind;
} fields[] = {
    {{"scale-min", 1e-6, 1}, AT(scale_min), LEAST},
    {{"scale-max", 1e-6, 1}, AT(scale_max), REAL},
    {{"ratio-min", 1e-3, 1e3}, AT(ratio_min), LEAST},
    {{"ratio-max", 1e-3, 1e3}, AT(ratio_max), REAL},
    {{"flip", 0, 1}, AT(flip), REAL},
    {{"jitter", 0, 1}, AT(jitter), REAL},
    {{"brightness", 0, 100}, AT(brightness), REAL},
    {{"contrast", 0, 100}, AT(contrast), REAL},
    {{"saturation", 0, 100}, AT(saturation), REAL},
    {{"hue", 0, 0.5}, AT(hue), REAL},
    {{"grey", 0, 1}, AT(grey), REAL},
    {{"blur", 0, 1}, AT(blur), REAL},
    {{"sigma-min", 0.01, IMAGE_SIGMA_MAX}, AT(sigma_min), LEAST},
    {{"sigma-max", 0.01, IMAGE_SIGMA_MAX}, AT(sigma_max), REAL},
    {{"taps", 0, 1001}, AT(taps), ODD},
    {{"ops", 0, IMAGE_OPS_MAX}, AT(ops), WHOLE},
    {{"magnitude", 0, 10}, AT(magnitude), REAL},
    {{"op-rate", 0, 1}, AT(op_rate), REAL},
    {{"op-kinds", 1, IMAGE_OPS}, AT(op_kinds), WHOLE},
    {{"noise", 0, 100}, AT(noise), REAL},
    {{"drop", 0, 0.99}, AT(drop), REAL},
};

enum {
    RECIPES = sizeof recipes / sizeof *recipes,
    FIELDS = sizeof fields / sizeof *fields
};

const char *
image_recipe_name(size_t i)
{
    return i < RECIPES ? recipes[i].name : NULL;
}

const struct image_field *
image_recipe_field(size_t i)
{
    return i < FIELDS ? &fields[i].is : NULL;
}

double
image_recipe_get(const struct image_recipe *recipe, size_t i)
{
    const char *at;

    REQUIRE(i < FIELDS);
    at = (const char *)recipe + fields[i].offset;
    return fields[i].kind >= WHOLE ? (double)*(const size_t *)at
                                   : *(const double *)at;
}

/* Checks the value x of a field, without regard to other fields. */
static int
check_field(const struct field *field, double x, struct err *err)
{
    if (!(x >= field->is.min && x <= field->is.max))
        return err_set(err, "recipe: %s is %g, want a number in %g .. %g",
                       field->is.name, x, field->is.min, field->is.max);
    if (field->kind == WHOLE && fmod(x, 1) != 0)
        return err_set(err, "recipe: %s is %g, want a whole number",
                       field->is.name, x);
    if (field->kind == ODD && x != 0 && fmod(x, 2) != 1)
        return err_set(err, "recipe: %s is %g, want 0 or an odd whole number",
                       field->is.name, x);
    return 0;
}

int
image_recipe_check(const struct image_recipe *recipe, struct err *err)
{
    if (!recipe->size || recipe->size > IMAGE_SIZE_MAX)
        return err_set(err, "recipe: size is %zu, want 1 .. %d", recipe->size,
                       IMAGE_SIZE_MAX);
    for (size_t i = 0; i < FIELDS; i++)
        if (check_field(&fields[i], image_recipe_get(recipe, i), err))
            return -1;
    for (size_t i = 0; i < FIELDS; i++)
        if (fields[i].kind == LEAST &&
            image_recipe_get(recipe, i) > image_recipe_get(recipe, i + 1))
            return err_set(err, "recipe: %s is %g, want at most %s, %g",
                           fields[i].is.name, image_recipe_get(recipe, i),
                           fields[i + 1].is.name,
                           image_recipe_get(recipe, i + 1));
    return 0;
}

static int
is_name(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && !memcmp(name, text, len);
}

static const char *
name_field(size_t i)
{
    const struct image_field *field = image_recipe_field(i);

    return field ? field->name : NULL;
}

/* Takes one FIELD=X, up to its end; `seen` has a bit for each field. */
static int
change_field(struct image_recipe *recipe, const char **text, unsigned *seen,
             struct err *err)
{
    const size_t len = strcspn(*text, "=,");
    const struct field *field = fields;
    const char *number = *text + len + ((*text)[len] == '=');
    char *end, *at;
    double x = strtod(number, &end);

    while (field < fields + FIELDS && !is_name(field->is.name, *text, len))
        field++;
    if (field == fields + FIELDS)
        return err_name(err, "field", *text, len, name_field);
    if (*seen >> (field - fields) & 1)
        return err_set(err, "recipe: %s is given twice", field->is.name);
    *seen |= 1U << (field - fields);
    if (end == number || (*end && *end != ','))
        return err_set(err, "recipe: %s is '%.*s', want a number in %g .. %g",
                       field->is.name, (int)strcspn(number, ","), number,
                       field->is.min, field->is.max);
    if (check_field(field, x, err))
        return -1;
    x += 0; // -0 becomes 0: equal recipes have equal bytes
    at = (char *)recipe + field->offset;
    if (field->kind >= WHOLE)
        *(size_t *)at = (size_t)x;
    else
        *(double *)at = x;
    *text = end;
    return 0;
}

int
image_recipe_find(const char *spec, struct image_recipe *recipe,
                  struct err *err)
{
    const size_t len = strcspn(spec, ",");
    const char *at = spec + len;
    struct image_recipe changed;
    unsigned seen = 0;
    size_t i = 0;

    while (i < RECIPES && !is_name(recipes[i].name, spec, len))
        i++;
    if (i == RECIPES)
        return err_name(err, "recipe", spec, len, image_recipe_name);
    changed = recipes[i].recipe;
    while (*at == ',') {
        at++;
        if (change_field(&changed, &at, &seen, err))
            return -1;
    }
    if (image_recipe_check(&changed, err))
        return -1;
    *recipe = changed;
    return 0;
}
