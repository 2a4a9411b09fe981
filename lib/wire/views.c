#include "wire/views.h"

void
wire_extra_write(struct wire_writer *w, const struct wire_extra *extra,
                 size_t r)
{
    if (extra->reserve)
        wire_write_whole(w, "reserve", extra->reserve);
    if (r && extra->view)
        wire_write_tensor(w, "extra_view", WIRE_I8, extra->view, 1, &r);
    if (r && extra->note)
        wire_write_tensor(w, "extra_note", WIRE_F4, extra->note, 2,
                          (size_t[]){r, extra->notes});
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

/* All numbers of t are in min .. max. */
static void
judge(struct wire_reader *r, const struct wire_tensor *t, int64_t min,
      int64_t max)
{
    const int64_t *x = t->data;

    for (size_t i = 0; i < t->count; i++)
        if (x[i] < min || x[i] > max)
            wire_read_fail(r, "'%s' names view %jd", t->name, (intmax_t)x[i]);
}

void
wire_extra_read(struct wire_reader *r, struct wire_extra *extra, size_t n_extra)
{
    const struct wire_tensor *view, *note;

    if (wire_read_has(r, "reserve"))
        extra->reserve = wire_read_whole(
            r, "reserve", (int64_t)(n_extra ? n_extra : 1), WIRE_BATCH_MAX);
    view = wire_read_tensor_if(r, "extra_view", WIRE_I8, 1);
    note = wire_read_tensor_if(r, "extra_note", WIRE_F4, 2);
    if ((view && view->shape[0] != n_extra) ||
        (note && (note->shape[0] != n_extra || note->shape[1] < 1 ||
                  note->shape[1] > WIRE_NOTES_MAX)))
        wire_read_fail(r, "views or notes do not fit the extra samples");
    if (view)
        judge(r, view, -1, WIRE_VIEW_MAX - 1);
    extra->view = view && !r->rc ? view->data : NULL;
    extra->note = note && !r->rc ? note->data : NULL;
    extra->notes = extra->note ? note->shape[1] : 0;
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
    judge(r, t, 0, variants->augmentations - 1);
    variants->views = t->shape[0];
    variants->variant = t->data;
}
