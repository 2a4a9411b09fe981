#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/codec.h"
#include "wire/metrics.h"

#include "message.h"
#include "tables.h"

/* ---- members of a struct, by their offset ------------------------------ */

static void *
member(const void *x, size_t at)
{
    return (char *)x + at;
}

static int64_t
whole_at(const void *x, size_t at)
{
    return *(const int64_t *)member(x, at);
}

static size_t
count_at(const void *x, size_t at)
{
    return *(const size_t *)member(x, at);
}

/* Pointers of every type look alike. */
static const void *
pointer_at(const void *x, size_t at)
{
    const void *pointer;

    memcpy(&pointer, member(x, at), sizeof pointer);
    return pointer;
}

static void
set_pointer(void *x, size_t at, const void *pointer)
{
    memcpy(member(x, at), &pointer, sizeof pointer);
}

static int64_t
number(const struct wire_field *f, const void *x)
{
    return f->type == WIRE_COUNT ? (int64_t)count_at(x, f->at)
                                 : whole_at(x, f->at);
}

static void
set_number(const struct wire_field *f, void *x, int64_t value)
{
    if (f->type == WIRE_COUNT)
        *(size_t *)member(x, f->at) = (size_t)value;
    else
        *(int64_t *)member(x, f->at) = value;
}

/* In a shape. */
static int
is_digit(char c)
{
    return c <= '9';
}

/* ---- encode ------------------------------------------------------------ */

static struct wire_tensor
tensor_of(const struct wire_message *m, const struct wire_field *f,
          const void *x)
{
    struct wire_tensor t = {.dtype = f->dtype, .count = 1};

    t.data = pointer_at(x, f->at);
    if (!t.data && f->half) {
        t.dtype = WIRE_F2;
        t.data = pointer_at(x, f->half);
    }
    for (const char *c = f->shape; *c; c++) {
        t.shape[t.rank] = is_digit(*c) ? (size_t)(*c - '0')
                                       : count_at(x, wire_size_find(m, *c)->at);
        t.count *= t.shape[t.rank++];
    }
    return t;
}

/* 1 when the struct says something that is to be sent. */
static int
is_sent(const struct wire_message *m, const struct wire_field *f, const void *x)
{
    if (f->with && !is_sent(m, wire_field_find(m, f->with), x))
        return 0;
    if (!f->optional)
        return 1;
    switch (f->type) {
    case WIRE_FLAG:
        return *(const int *)member(x, f->at) != 0;
    case WIRE_TEXT:
        return *(const char *)member(x, f->at) != '\0';
    case WIRE_SHARE:
        return ((const int64_t *)member(x, f->at))[1] != 0;
    case WIRE_VALUES:
    case WIRE_COUPLES:
    case WIRE_TABLES:
        return count_at(x, f->count) != 0;
    case WIRE_TENSOR:
    case WIRE_IDS:
        return pointer_at(x, f->at) && tensor_of(m, f, x).count;
    default:
        return number(f, x) != f->missing;
    }
}

static void
put_tensor(struct wire_writer *w, const struct wire_message *m,
           const struct wire_field *f, const void *x)
{
    const struct wire_tensor t = tensor_of(m, f, x);

    REQUIRE(t.data && t.count);
    wire_write_tensor(w, f->name, t.dtype, t.data, t.rank, t.shape);
}

static void
put_map(struct wire_writer *w, const char *key, size_t n)
{
    wire_write_key(w, key);
    msgpack_pack_map(&w->packer, n);
    w->keys -= n; // its own keys are written the same way, and count there
}

static void
put_real(struct wire_writer *w, const char *key, double value)
{
    REQUIRE(isfinite(value));
    wire_write_key(w, key);
    msgpack_pack_double(&w->packer, value);
}

static void
put_values(struct wire_writer *w, const struct wire_field *f, const void *x)
{
    const struct wire_metric *value = member(x, f->at);
    const size_t n = count_at(x, f->count);

    REQUIRE(n <= (size_t)f->greatest);
    put_map(w, f->name, n);
    for (size_t i = 0; i < n; i++)
        put_real(w, value[i].name, value[i].value);
}

static void
put_two(struct wire_writer *w, const int64_t two[2])
{
    msgpack_pack_array(&w->packer, 2);
    msgpack_pack_int64(&w->packer, two[0]);
    msgpack_pack_int64(&w->packer, two[1]);
}

static void
put_couples(struct wire_writer *w, const struct wire_field *f, const void *x)
{
    const int64_t *couple = pointer_at(x, f->at);
    const size_t n = count_at(x, f->count);

    REQUIRE(n <= (size_t)f->greatest);
    wire_write_key(w, f->name);
    msgpack_pack_array(&w->packer, n);
    for (size_t i = 0; i < n; i++)
        put_two(w, couple + 2 * i);
}

static void
put(struct wire_writer *w, const struct wire_message *m,
    const struct wire_field *f, const void *x)
{
    switch (f->type) {
    case WIRE_WHOLE:
    case WIRE_COUNT:
        wire_write_key(w, f->name);
        msgpack_pack_int64(&w->packer, number(f, x));
        break;
    case WIRE_REAL:
        put_real(w, f->name, *(const double *)member(x, f->at));
        break;
    case WIRE_FLAG:
        wire_write_key(w, f->name);
        msgpack_pack_true(&w->packer);
        break;
    case WIRE_TEXT:
        wire_write_key(w, f->name);
        wire_write_text(w, member(x, f->at));
        break;
    case WIRE_MAP:
        put_map(w, f->name, f->members);
        break;
    case WIRE_SHARE:
        wire_write_key(w, f->name);
        put_two(w, member(x, f->at));
        break;
    case WIRE_VALUES:
        put_values(w, f, x);
        break;
    case WIRE_COUPLES:
        put_couples(w, f, x);
        break;
    case WIRE_TENSOR:
    case WIRE_IDS:
        put_tensor(w, m, f, x);
        break;
    case WIRE_TABLES:
        wire_tables_put(w, f->name, count_at(x, f->count),
                        pointer_at(x, f->at));
    }
}

struct wire_msg *
wire_encode(enum wire_kind kind, const void *from)
{
    const struct wire_message *m = &wire_messages[kind];
    const struct wire_field *f;
    struct wire_writer w;

    wire_write_start(&w, kind);
    for (f = m->fields; f->name; f++)
        if (is_sent(m, f, from))
            put(&w, m, f, from);
    return wire_write_end(&w);
}

/* ---- decode ------------------------------------------------------------ */

struct decoder {
    struct wire_reader r;
    const struct wire_message *m;
    void *x;
    int64_t size;     /* of our data set; 0: not known */
    unsigned settled; /* bit i: m->sizes[i] is */
};

/* Samples are below it; 0: not known. */
static int64_t
images(const struct decoder *d)
{
    return d->m->images ? whole_at(d->x, d->m->images) : d->size;
}

/* 1 when the message has that key or tensor. */
static int
has(struct decoder *d, const struct wire_field *f)
{
    return f->shape ? wire_msg_find(d->r.msg, f->name) != NULL
                    : wire_read_find(&d->r, f->name) != NULL;
}

static void
get_number(struct decoder *d, const struct wire_field *f)
{
    int64_t least = f->least;

    if (f->above)
        least = whole_at(d->x, f->above_at) + 1;
    if (f->least_size) {
        const size_t size =
            count_at(d->x, wire_size_find(d->m, f->least_size)->at);

        least = size > (size_t)least ? (int64_t)size : least;
    }
    set_number(f, d->x, wire_read_whole(&d->r, f->name, least, f->greatest));
}

/* A finite number; integers will do, too. */
static int
object_real(const msgpack_object *o, double *value)
{
    if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        *value = o->via.f64;
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *value = (double)o->via.u64;
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *value = (double)o->via.i64;
    else
        return -1;
    return isfinite(*value) ? 0 : -1;
}

static void
get_real(struct decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);
    double *value = member(d->x, f->at);

    if (o && (object_real(o, value) || *value < f->low || *value > f->high))
        wire_read_fail(&d->r, "'%s' is no number in %g .. %g", f->name, f->low,
                       f->high);
}

static void
get_flag(struct decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);

    if (o && o->type != MSGPACK_OBJECT_BOOLEAN)
        wire_read_fail(&d->r, "'%s' is neither true nor false", f->name);
    else if (o)
        *(int *)member(d->x, f->at) = o->via.boolean;
}

/* 1 when the text is a word of the list "train, eval". */
static int
is_word(const char *list, const msgpack_object_str *text)
{
    for (const char *word = list; *word; word += strspn(word, ", ")) {
        const size_t n = strcspn(word, ",");

        if (n == text->size && !memcmp(word, text->ptr, n))
            return 1;
        word += n;
    }
    return 0;
}

static void
get_text(struct decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);
    const msgpack_object_str *text;

    if (!o)
        return;
    text = &o->via.str;
    if (o->type != MSGPACK_OBJECT_STR || text->size >= f->room ||
        text->size < (size_t)f->least || memchr(text->ptr, 0, text->size))
        wire_read_fail(&d->r, "'%s' is no text of %jd to %zu bytes", f->name,
                       (intmax_t)f->least, f->room - 1);
    else if (f->words && !is_word(f->words, text))
        wire_read_fail(&d->r, "'%s' is none of %s", f->name, f->words);
    else
        memcpy(member(d->x, f->at), text->ptr, text->size);
}

static const msgpack_object_map *
get_map(struct decoder *d, const struct wire_field *f)
{
    static const msgpack_object_map empty;
    const msgpack_object *o = wire_read_need(&d->r, f->name);

    if (o && o->type != MSGPACK_OBJECT_MAP)
        wire_read_fail(&d->r, "'%s' is no map", f->name);
    return d->r.rc ? &empty : &o->via.map;
}

static void
get_value(struct decoder *d, const msgpack_object_kv *kv,
          struct wire_metric *value)
{
    const size_t n = kv->key.via.str.size;

    if (n < 1 || n >= sizeof value->name || memchr(kv->key.via.str.ptr, 0, n)) {
        wire_read_fail(&d->r, "a name of a number has %zu bytes", n);
        return;
    }
    memcpy(value->name, kv->key.via.str.ptr, n);
    if (object_real(&kv->val, &value->value))
        wire_read_fail(&d->r, "'%s' is no finite number", value->name);
}

static void
get_values(struct decoder *d, const struct wire_field *f)
{
    const msgpack_object_map *map = get_map(d, f);
    struct wire_metric *value = member(d->x, f->at);

    if (!d->r.rc && map->size > f->greatest)
        wire_read_fail(&d->r, "more than %jd '%s'", (intmax_t)f->greatest,
                       f->name);
    for (size_t i = 0; !d->r.rc && i < map->size; i++)
        get_value(d, &map->ptr[i], &value[i]);
    if (!d->r.rc)
        *(size_t *)member(d->x, f->count) = map->size;
}

/* [a, b], each from 0 to `most`. */
static int
object_two(const msgpack_object *o, int64_t most, int64_t two[2])
{
    const msgpack_object_array *list = &o->via.array;

    return o->type != MSGPACK_OBJECT_ARRAY || list->size != 2 ||
                   wire_object_whole(&list->ptr[0], 0, most, &two[0]) ||
                   wire_object_whole(&list->ptr[1], 0, most, &two[1])
               ? -1
               : 0;
}

static void
get_share(struct decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);
    int64_t *part = member(d->x, f->at);

    if (o && (object_two(o, f->greatest, part) || part[0] >= part[1]))
        wire_read_fail(&d->r, "'%s' is no [i, n] with i < n <= %jd", f->name,
                       (intmax_t)f->greatest);
}

static void
get_couples(struct decoder *d, const struct wire_field *f)
{
    const msgpack_object_array *list = wire_read_array(&d->r, f->name);
    const int64_t most = images(d) ? images(d) - 1 : WIRE_SIZE_MAX;
    int64_t(*couple)[2];

    if (!list || !list->size)
        return;
    if (list->size > f->greatest) {
        wire_read_fail(&d->r, "'%s' has %u entries, at most %jd", f->name,
                       list->size, (intmax_t)f->greatest);
        return;
    }
    couple = mem_array(list->size, sizeof *couple);
    set_pointer(d->x, f->at, couple);
    *(size_t *)member(d->x, f->count) = list->size;
    for (size_t i = 0; i < list->size; i++)
        if (object_two(&list->ptr[i], most, couple[i]))
            wire_read_fail(&d->r, "entry %zu of '%s' is no pair of ids", i,
                           f->name);
}

/* "v,b,d" of "vbd", for a sentence. */
static const char *
commas(const char *shape, char to[2 * WIRE_RANK_MAX])
{
    size_t n = 0;

    for (; *shape; shape++) {
        to[n++] = *shape;
        to[n++] = ',';
    }
    to[n - 1] = '\0';
    return to;
}

/* Size i of t, which is called that. */
static void
settle(struct decoder *d, const struct wire_field *f,
       const struct wire_tensor *t, size_t i, const struct wire_size *size)
{
    size_t *known = member(d->x, size->at);
    const unsigned bit = 1u << (size - d->m->sizes);
    const size_t got = t->shape[i];
    char shape[2 * WIRE_RANK_MAX];

    if (*known || d->settled & bit) {
        if (got != *known)
            wire_read_fail(&d->r, "tensor '%s' [%s] has %c = %zu, want %zu",
                           f->name, commas(f->shape, shape), size->name, got,
                           *known);
    } else if (!got) {
        wire_read_fail(&d->r, "tensor '%s' is empty", f->name);
    } else if (got > size->greatest) {
        wire_read_fail(&d->r, "tensor '%s' [%s] has %c = %zu, at most %zu",
                       f->name, commas(f->shape, shape), size->name, got,
                       size->greatest);
    }
    *known = got;
}

/* The sizes of t agree with those of the message; t is NULL where a tensor is
 * missing, and sizes that it would have given are 0. */
static void
get_sizes(struct decoder *d, const struct wire_field *f,
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
                settle(d, f, t, i, size);
        }
    }
    d->settled |= settled;
}

static int
compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void
check_once(struct decoder *d, const struct wire_tensor *t)
{
    int64_t *sorted;

    if (d->r.rc || t->count < 2)
        return;
    sorted = mem_array(t->count, sizeof *sorted);
    memcpy(sorted, t->data, t->count * sizeof *sorted);
    qsort(sorted, t->count, sizeof *sorted, compare);
    for (size_t i = 1; i < t->count; i++)
        if (sorted[i] == sorted[i - 1])
            wire_read_fail(&d->r, "sample %jd is in '%s' twice",
                           (intmax_t)sorted[i], t->name);
    free(sorted);
}

static void
check_ids(struct decoder *d, const struct wire_tensor *t)
{
    const int64_t *id = t->data, size = images(d);

    for (size_t i = 0; i < t->count && !d->r.rc; i++)
        if (id[i] < 0 || (size && id[i] >= size))
            wire_read_fail(&d->r,
                           "id %jd in '%s' is not in the data set of %jd",
                           (intmax_t)id[i], t->name, (intmax_t)size);
}

static void
check_whole(struct decoder *d, const struct wire_field *f,
            const struct wire_tensor *t)
{
    const int64_t least = f->least;
    const int64_t most =
        f->below ? whole_at(d->x, f->below_at) - 1 : f->greatest;

    for (size_t i = 0; i < t->count && !d->r.rc; i++) {
        const int64_t x = t->dtype == WIRE_I4 ? ((const int32_t *)t->data)[i]
                                              : ((const int64_t *)t->data)[i];

        if (x < least || x > most)
            wire_read_fail(&d->r, "'%s' has %jd, want %jd .. %jd", f->name,
                           (intmax_t)x, (intmax_t)least, (intmax_t)most);
    }
}

static void
check_real(struct decoder *d, const struct wire_field *f,
           const struct wire_tensor *t)
{
    const float *x = t->data;

    for (size_t i = 0; i < t->count && !d->r.rc; i++)
        if ((double)x[i] < f->low || (double)x[i] > f->high)
            wire_read_fail(&d->r, "'%s' has %g, want %g .. %g", f->name,
                           (double)x[i], f->low, f->high);
}

static void
check_elements(struct decoder *d, const struct wire_field *f,
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

static void
get_tensor(struct decoder *d, const struct wire_field *f)
{
    const struct wire_tensor *t = wire_msg_find(d->r.msg, f->name);
    const int half = t && f->half && t->dtype == WIRE_F2;

    if (!t)
        wire_read_fail(&d->r, "tensor '%s' is missing", f->name);
    else if ((t->dtype != f->dtype && !half) || t->rank != strlen(f->shape))
        wire_read_fail(&d->r, "tensor '%s' is %s of %zu sizes, want %s of %zu",
                       f->name, wire_dtype_name(t->dtype), t->rank,
                       wire_dtype_name(f->dtype), strlen(f->shape));
    if (!d->r.rc)
        get_sizes(d, f, t);
    if (!d->r.rc)
        check_elements(d, f, t);
    if (!d->r.rc)
        set_pointer(d->x, half ? f->half : f->at, t->data);
}

static void
get_tables(struct decoder *d, const struct wire_field *f)
{
    size_t *n = member(d->x, f->count);

    set_pointer(d->x, f->at, wire_tables_get(&d->r, f->name, f->placed, n));
}

/* What a field is where it is missing; 1 when that is all. */
static int
is_left_out(struct decoder *d, const struct wire_field *f)
{
    const struct wire_field *with =
        f->with ? wire_field_find(d->m, f->with) : NULL;

    if (with && !has(d, with)) {
        if (f->shape && has(d, f))
            wire_read_fail(&d->r, "tensor '%s' is there without '%s'", f->name,
                           f->with);
    } else if (!f->optional || has(d, f)) {
        return 0;
    }
    if (f->type == WIRE_WHOLE)
        set_number(f, d->x, f->missing);
    if (f->shape)
        get_sizes(d, f, NULL);
    return 1;
}

static void
get(struct decoder *d, const struct wire_field *f)
{
    switch (f->type) {
    case WIRE_WHOLE:
    case WIRE_COUNT:
        get_number(d, f);
        break;
    case WIRE_REAL:
        get_real(d, f);
        break;
    case WIRE_FLAG:
        get_flag(d, f);
        break;
    case WIRE_TEXT:
        get_text(d, f);
        break;
    case WIRE_MAP: // wire_decode() goes into it
        break;
    case WIRE_SHARE:
        get_share(d, f);
        break;
    case WIRE_VALUES:
        get_values(d, f);
        break;
    case WIRE_COUPLES:
        get_couples(d, f);
        break;
    case WIRE_TENSOR:
    case WIRE_IDS:
        get_tensor(d, f);
        break;
    case WIRE_TABLES:
        get_tables(d, f);
    }
}

/* Arrays of a decoded struct that do not lie in its message. */
static void
free_own(const struct wire_message *m, void *x)
{
    const struct wire_field *f;

    for (f = m->fields; f->name; f++)
        if (f->type == WIRE_COUPLES || f->type == WIRE_TABLES)
            free((void *)pointer_at(x, f->at));
}

static void
get_all(struct decoder *d)
{
    const msgpack_object_map *header = d->r.map;
    const struct wire_field *f;
    const struct wire_check *c;
    size_t inside = 0; // rows that are still of a map in the header

    for (f = d->m->fields; f->name; f++) {
        if (f->type == WIRE_MAP) {
            d->r.map = get_map(d, f);
            inside = f->members;
            continue;
        }
        if (!is_left_out(d, f))
            get(d, f);
        if (inside && !--inside)
            d->r.map = header;
        if (d->r.rc)
            return;
    }
    for (c = d->m->checks; c->what && !d->r.rc; c++)
        c->check(&d->r, d->x, d->size);
}

int
wire_decode(enum wire_kind kind, void *to, const struct wire_msg *msg,
            int64_t size, struct err *err)
{
    struct decoder d = {.r = wire_read_start(msg, err),
                        .m = &wire_messages[kind],
                        .x = to,
                        .size = size};

    memset(to, 0, d.m->bytes);
    get_all(&d);
    if (d.r.rc) {
        free_own(d.m, to);
        memset(to, 0, d.m->bytes);
        return -1;
    }
    if (d.m->held) // which only counts its holders
        set_pointer(to, d.m->held, wire_msg_hold((struct wire_msg *)msg));
    return 0;
}

void
wire_release(enum wire_kind kind, void *held)
{
    const struct wire_message *m = &wire_messages[kind];
    struct wire_msg *msg = (struct wire_msg *)pointer_at(held, m->held);

    if (msg)
        free_own(m, held);
    wire_msg_free(msg);
    memset(held, 0, m->bytes);
}
