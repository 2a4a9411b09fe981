#include <stdlib.h>

#include "util/mem.h"

#include "codec_impl.h"

int64_t
wire_decode_images(const struct wire_decoder *d)
{
    return d->m->images ? whole_at(d->x, d->m->images) : d->size;
}

/* "v,b,d" from "vbd", for an error message. */
static const char *
put_commas(const char *shape, char to[2 * WIRE_RANK_MAX])
{
    size_t n = 0;

    for (; *shape; shape++) {
        to[n++] = *shape;
        to[n++] = ',';
    }
    to[n - 1] = '\0';
    return to;
}

/* Check or set a named size by size i of t. */
static void
settle_sizes(struct wire_decoder *d, const struct wire_field *f,
             const struct wire_tensor *t, size_t i,
             const struct wire_size *size)
{
    size_t *known = field_at(d->x, size->at);
    const unsigned bit = 1u << (size - d->m->sizes);
    const size_t got = t->shape[i];
    char shape[2 * WIRE_RANK_MAX];

    if (*known || d->settled & bit) {
        if (got != *known)
            wire_read_fail(&d->r, "tensor '%s' [%s] has %c = %zu, want %zu",
                           f->name, put_commas(f->shape, shape), size->name,
                           got, *known);
    } else if (!got) {
        wire_read_fail(&d->r, "tensor '%s' is empty", f->name);
    } else if (got > size->greatest) {
        wire_read_fail(&d->r, "tensor '%s' [%s] has %c = %zu, at most %zu",
                       f->name, put_commas(f->shape, shape), size->name, got,
                       size->greatest);
    }
    *known = got;
}

void
wire_decode_sizes(struct wire_decoder *d, const struct wire_field *f,
                  const struct wire_tensor *t)
{
    unsigned settled = 0;

    for (size_t i = 0; f->shape[i]; i++) {
        const char name = f->shape[i];
        const struct wire_size *size;

        if (t && is_digit(name) && t->shape[i] != (size_t)(name - '0'))
            wire_read_fail(&d->r, "tensor '%s' has rows of %zu, want %c",
                           f->name, t->shape[i], name);
        for (size = d->m->sizes; size->name; size++) {
            if (size->name != name)
                continue;
            settled |= 1u << (size - d->m->sizes);
            if (t && !d->r.rc)
                settle_sizes(d, f, t, i, size);
        }
    }
    d->settled |= settled;
}

static int
compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void
check_once(struct wire_decoder *d, const struct wire_tensor *t)
{
    int64_t *sorted;

    if (d->r.rc || t->count < 2)
        return;
    sorted = mem_array(t->count, sizeof *sorted);
    memcpy(sorted, t->data, t->count * sizeof *sorted);
    qsort(sorted, t->count, sizeof *sorted, compare_ids);
    for (size_t i = 1; i < t->count; i++)
        if (sorted[i] == sorted[i - 1])
            wire_read_fail(&d->r, "sample %jd is in '%s' twice",
                           (intmax_t)sorted[i], t->name);
    free(sorted);
}

static void
check_ids(struct wire_decoder *d, const struct wire_tensor *t)
{
    const int64_t *id = t->data, size = wire_decode_images(d);

    for (size_t i = 0; i < t->count && !d->r.rc; i++)
        if (id[i] < 0 || (size && id[i] >= size))
            wire_read_fail(&d->r,
                           "id %jd in '%s' is not in the data set of %jd",
                           (intmax_t)id[i], t->name, (intmax_t)size);
}

static void
check_whole(struct wire_decoder *d, const struct wire_field *f,
            const struct wire_tensor *t)
{
    const int64_t least = f->least;
    const int64_t most =
        f->below ? whole_at(d->x, f->below_at) - 1 : f->greatest;

    for (size_t i = 0; i < t->count && !d->r.rc; i++) {
        const int64_t x = t->dtype == DTYPE_I4 ? ((const int32_t *)t->data)[i]
                                               : ((const int64_t *)t->data)[i];

        if (x < least || x > most)
            wire_read_fail(&d->r, "'%s' has %jd, want %jd .. %jd", f->name,
                           (intmax_t)x, (intmax_t)least, (intmax_t)most);
    }
}

static void
check_real(struct wire_decoder *d, const struct wire_field *f,
           const struct wire_tensor *t)
{
    const float *x = t->data;

    for (size_t i = 0; i < t->count && !d->r.rc; i++)
        if ((double)x[i] < f->low || (double)x[i] > f->high)
            wire_read_fail(&d->r, "'%s' has %g, want %g .. %g", f->name,
                           (double)x[i], f->low, f->high);
}

static void
check_elements(struct wire_decoder *d, const struct wire_field *f,
               const struct wire_tensor *t)
{
    if (f->type == WIRE_IDS)
        check_ids(d, t);
    if (f->once)
        check_once(d, t);
    if (f->below || f->least < f->greatest)
        check_whole(d, f, t);
    if (f->low < f->high)
        check_real(d, f, t);
}

void
wire_decode_tensor(struct wire_decoder *d, const struct wire_field *f)
{
    const struct wire_tensor *t = wire_msg_find(d->r.msg, f->name);
    const int half = t && f->half && t->dtype == DTYPE_F2;

    if (!t)
        wire_read_fail(&d->r, "tensor '%s' is missing", f->name);
    else if ((t->dtype != f->dtype && !half) || t->rank != strlen(f->shape))
        wire_read_fail(&d->r, "tensor '%s' is %s of %zu sizes, want %s of %zu",
                       f->name, dtype_about(t->dtype)->wire, t->rank,
                       dtype_about(f->dtype)->wire, strlen(f->shape));
    if (!d->r.rc)
        wire_decode_sizes(d, f, t);
    if (!d->r.rc)
        check_elements(d, f, t);
    if (!d->r.rc)
        set_pointer(d->x, half ? f->half : f->at, t->data);
}
