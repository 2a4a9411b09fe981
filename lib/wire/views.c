#include "wire/views.h"

#include "values.h"

void
wire_extra_write(struct wire_writer *w, const struct wire_extra *extra,
                 size_t r)
{
    if (extra->reserve)
        wire_write_whole(w, "reserve", extra->reserve);
    if (r && extra->view)
        wire_write_tensor(w, "extra_view", WIRE_I8, extra->view, 1, &r);
    if (r && extra->hint_row)
        wire_write_tensor(w, "hint_row", WIRE_I4, extra->hint_row, 1, &r);
    if (r && extra->hint_view)
        wire_write_tensor(w, "hint_view", WIRE_I4, extra->hint_view, 1, &r);
    if (r && extra->hint_log_q)
        wire_write_tensor(w, "hint_log_q", WIRE_F4, extra->hint_log_q, 1, &r);
    if (extra->n_hint_values)
        wire_values_write(w, "hint_values", extra->hint_values,
                          extra->n_hint_values);
}

void
wire_variants_write(struct wire_writer *w, const struct wire_variants *variants,
                    size_t b)
{
    if (!variants->augmentations)
        return;
    wire_write_whole(w, "augmentations", variants->augmentations);
    wire_write_tensor(w, "variants", WIRE_I8, variants->variant, 2,
                      (size_t[]){variants->views, b});
}

/* All numbers of t, of type i8 or i4, are in min .. max. */
static void
judge(struct wire_reader *r, const struct wire_tensor *t, const char *what,
      int64_t min, int64_t max)
{
    for (size_t i = 0; i < t->count; i++) {
        const int64_t x = t->dtype == WIRE_I4 ? ((const int32_t *)t->data)[i]
                                              : ((const int64_t *)t->data)[i];

        if (x < min || x > max)
            wire_read_fail(r, "'%s' names %s %jd", t->name, what, (intmax_t)x);
    }
}

/* An optional tensor [n_extra]; where it names something, from -1 to max. */
static const void *
of_each(struct wire_reader *r, const char *name, enum wire_dtype dtype,
        size_t n_extra, const char *what, int64_t max)
{
    const struct wire_tensor *t = wire_read_tensor_if(r, name, dtype, 1);

    if (t && t->shape[0] != n_extra)
        wire_read_fail(r, "'%s' does not fit the extra samples", name);
    if (t && what)
        judge(r, t, what, -1, max);
    return t && !r->rc ? t->data : NULL;
}

void
wire_extra_read(struct wire_reader *r, struct wire_extra *extra, size_t n_extra)
{
    const int64_t last = WIRE_VIEW_MAX - 1;

    if (wire_read_has(r, "reserve"))
        extra->reserve = wire_read_whole(
            r, "reserve", (int64_t)(n_extra ? n_extra : 1), WIRE_BATCH_MAX);
    extra->view = of_each(r, "extra_view", WIRE_I8, n_extra, "view", last);
    extra->hint_row =
        of_each(r, "hint_row", WIRE_I4, n_extra, "row", INT32_MAX);
    extra->hint_view = of_each(r, "hint_view", WIRE_I4, n_extra, "view", last);
    extra->hint_log_q = of_each(r, "hint_log_q", WIRE_F4, n_extra, NULL, 0);
    if (wire_read_has(r, "hint_values"))
        extra->n_hint_values = wire_values_read(
            r, "hint_values", extra->hint_values, WIRE_HINT_VALUES_MAX);
}

void
wire_variants_read(struct wire_reader *r, struct wire_variants *variants,
                   size_t v, size_t b)
{
    const struct wire_tensor *t =
        wire_read_tensor_if(r, "variants", WIRE_I8, 2);

    *variants = (struct wire_variants){0};
    if (!t != !wire_read_has(r, "augmentations"))
        wire_read_fail(r, "'variants' without 'augmentations', or the reverse");
    if (!t || r->rc)
        return;
    variants->augmentations =
        wire_read_whole(r, "augmentations", 2, WIRE_VIEW_MAX);
    if (t->shape[1] != b || t->shape[0] < 1 || (v && t->shape[0] != v))
        wire_read_fail(r, "variants do not fit ids and views");
    judge(r, t, "view", 0, variants->augmentations - 1);
    variants->views = t->shape[0];
    variants->variant = t->data;
}
