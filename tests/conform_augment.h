#pragma once

/*
 * For tests/conformance.c: a picture, and single operations on it.  `image` is
 * the picture, <operation><number>.out what the operation made of it, with
 * .box, .factor or .param beside it.
 */
#include <math.h>
#include <stdlib.h>

#include "conform_file.h"
#include "image/blur.h"
#include "image/color.h"
#include "image/resize.h"
#include "util/mem.h"

enum { SIDE_MAX = 65536 };

/* A picture: U8 [height,width,3]. */
static int
picture_get(const struct file *file, const char *name, struct image *image,
            struct err *err)
{
    const struct nn_array *a = array_get(file, "U8", name, err);

    if (!a)
        return -1;
    if (a->rank != 3 || a->shape[2] != 3 || !a->count ||
        a->shape[0] > SIDE_MAX || a->shape[1] > SIDE_MAX)
        return err_set(err, "'%s' is no RGB picture", name);
    *image = (struct image){
        .pixel = a->data, .width = a->shape[1], .height = a->shape[0]};
    return 0;
}

/* The parameter of an operation: 1 where there is one, 0, -1. */
static int
param_get(const struct file *file, const char *op, const char *what,
          const char *dtype, size_t count, const void **data, struct err *err)
{
    char name[128];
    const struct nn_array *a;

    snprintf(name, sizeof name, "%s.%s", op, what);
    if (!nn_arrays_find(file->array, file->n, name))
        return 0;
    a = array_get(file, dtype, name, err);
    if (!a)
        return -1;
    if (a->count != count)
        return err_set(err, "'%s' has %zu numbers, not %zu", name, a->count,
                       count);
    *data = a->data;
    return 1;
}

/* resized_crop: box is top, left, height, width. */
static int
crop(const struct image *in, const int64_t *box, const struct image *out,
     struct image_scratch **scratch, struct err *err)
{
    const int64_t h = (int64_t)in->height, w = (int64_t)in->width;

    if (box[0] < 0 || box[1] < 0 || box[2] < 1 || box[3] < 1 || box[0] > h ||
        box[1] > w || box[2] > h - box[0] || box[3] > w - box[1])
        return err_set(err, "a crop's box is outside of the image");
    image_resize(in,
                 &(struct image_box){(size_t)box[1], (size_t)box[0],
                                     (size_t)box[3], (size_t)box[2]},
                 out->width, out->height, NULL, 0, scratch, out->pixel);
    return 0;
}

typedef void color_fn(size_t n, double amount, uint8_t *plane);

static void
grey(size_t n, double amount, uint8_t *plane)
{
    (void)amount;
    image_color_grey(n, plane);
}

static const struct {
    const char *name;
    color_fn *run;
} colors[] = {
    {"brightness", image_color_brightness},
    {"contrast", image_color_contrast},
    {"saturation", image_color_saturation},
    {"hue", image_color_hue},
    {"grayscale", grey},
};

static int
color(const struct file *file, const char *op, const char *kind,
      const struct image *in, const struct image *out, struct err *err)
{
    const size_t n = in->width * in->height;
    const double none = 0;
    const void *amount = &none;
    color_fn *run = NULL;
    uint8_t *plane;

    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        if (!strcmp(colors[i].name, kind))
            run = colors[i].run;
    if (!run)
        return err_set(err, "no operation '%s'", op);
    if (param_get(file, op, "factor", "F64", 1, &amount, err) < 0)
        return -1;
    if (!(fabs(*(const double *)amount) <=
          (run == image_color_hue ? 0.5 : 1e3)))
        return err_set(err, "the factor of '%s' is out of range", op);
    plane = mem_array(n, 3);
    image_color_split(n, in->pixel, plane);
    run(n, *(const double *)amount, plane);
    image_color_merge(n, plane, out->pixel);
    free(plane);
    return 0;
}

/* gaussian_blur: param is the number of taps and sigma. */
static int
blur(const struct image *in, const double *param, const struct image *out,
     struct image_scratch **scratch, struct err *err)
{
    const size_t n = in->width * in->height;
    uint8_t *plane;

    if (!(param[0] >= 1 && param[0] < 10000 && fmod(param[0], 2) == 1 &&
          param[1] > 0))
        return err_set(err, "a blur's parameters are out of range");
    plane = mem_array(n, 3);
    image_color_split(n, in->pixel, plane);
    for (size_t c = 0; c < 3; c++)
        image_blur_kernel(in->width, in->height, (size_t)param[0], param[1],
                          plane + c * n, scratch);
    image_color_merge(n, plane, out->pixel);
    free(plane);
    return 0;
}

/* Do operation `op` ("hue2", of the kind "hue") on the image. */
static int
operate(const struct file *file, const char *op, const char *kind,
        const struct image *in, const struct image *out,
        struct image_scratch **scratch, struct err *err)
{
    const struct image_box all = {0, 0, in->width, in->height};
    const void *param = NULL;
    int rc = param_get(file, op, "box", "I64", 4, &param, err);

    if (rc)
        return rc < 0 ? -1 : crop(in, param, out, scratch, err);
    if (in->width != out->width || in->height != out->height)
        return err_set(err, "'%s.out' has another size than the image", op);
    rc = param_get(file, op, "param", "F64", 2, &param, err);
    if (rc)
        return rc < 0 ? -1 : blur(in, param, out, scratch, err);
    if (strcmp(kind, "hflip"))
        return color(file, op, kind, in, out, err);
    image_resize(in, &all, in->width, in->height, NULL, 1, scratch, out->pixel);
    return 0;
}

static int
augment_one(struct file *file, const char *op, const struct image *image,
            struct image_scratch **scratch, struct err *err)
{
    char name[128], kind[64];
    struct image want = {0}, got;
    double worst = 0;
    int rc;

    snprintf(name, sizeof name, "%s.out", op);
    snprintf(kind, sizeof kind, "%.*s", (int)strcspn(op, "0123456789"), op);
    if (picture_get(file, name, &want, err))
        return -1;
    got = want;
    got.pixel = mem_array(want.width * want.height, 3);
    rc = operate(file, op, kind, image, &got, scratch, err);
    for (size_t i = 0; i < 3 * want.width * want.height; i++)
        worst = fmax(worst, abs(got.pixel[i] - want.pixel[i]));
    if (!rc)
        note(file, kind, worst, LEVELS);
    free(got.pixel);
    return rc;
}

static inline int
augment(struct file *file, const char *name, struct err *err)
{
    struct image_scratch *scratch = NULL;
    struct image image = {0};
    int rc = picture_get(file, "image", &image, err);

    (void)name;
    for (size_t i = 0; i < file->n && !rc; i++) {
        const char *dot = strstr(file->array[i].name, ".out");
        char op[64];

        if (!dot)
            continue;
        snprintf(op, sizeof op, "%.*s", (int)(dot - file->array[i].name),
                 file->array[i].name);
        rc = augment_one(file, op, &image, &scratch, err);
    }
    image_scratch_free(scratch);
    return rc;
}
