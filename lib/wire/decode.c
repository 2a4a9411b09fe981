#include <math.h>
#include <stdlib.h>

#include "util/mem.h"
#include "wire/codec.h"
#include "wire/edge.h"
#include "wire/events.h"

#include "codec_impl.h"

/* The bound of sample ids; 0: not known. */
static int64_t
count_images(const struct wire_decoder *d)
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

/* Compares the sizes of t with those that are known from other tensors, and
 * sets the unknown ones, to 0 if the tensor is missing (t is NULL). */
static void
settle_shape(struct wire_decoder *d, const struct wire_field *f,
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

    if (t->count < 2)
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
    const int64_t *id = t->data, size = count_images(d);

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

/* Finds the tensor of a field, checks its type, sizes and elements, and sets
 * the pointer in the struct. */
static void
get_tensor(struct wire_decoder *d, const struct wire_field *f)
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
        settle_shape(d, f, t);
    if (!d->r.rc && f->type == WIRE_IDS)
        check_ids(d, t);
    if (!d->r.rc && f->once)
        check_once(d, t);
    if (!d->r.rc && (f->below || f->least < f->greatest))
        check_whole(d, f, t);
    if (!d->r.rc && f->low < f->high)
        check_real(d, f, t);
    if (!d->r.rc)
        set_pointer(d->x, half ? f->half : f->at, t->data);
}

/* 1 when the message has that key or tensor. */
static int
has_field(struct wire_decoder *d, const struct wire_field *f)
{
    return f->shape ? wire_msg_find(d->r.msg, f->name) != NULL
                    : wire_read_find(&d->r, f->name) != NULL;
}

static void
get_number(struct wire_decoder *d, const struct wire_field *f)
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

/* A finite number; integers are accepted, too. */
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
get_real(struct wire_decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);
    double *value = field_at(d->x, f->at);

    if (o && (object_real(o, value) || *value < f->low || *value > f->high))
        wire_read_fail(&d->r, "'%s' is not a number in %g .. %g", f->name,
                       f->low, f->high);
}

static void
get_flag(struct wire_decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);

    if (o && o->type != MSGPACK_OBJECT_BOOLEAN)
        wire_read_fail(&d->r, "'%s' is neither true nor false", f->name);
    else if (o)
        *(int *)field_at(d->x, f->at) = o->via.boolean;
}

static void
get_text(struct wire_decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);
    const msgpack_object_str *text;

    if (!o)
        return;
    text = &o->via.str;
    if (o->type != MSGPACK_OBJECT_STR || text->size >= f->room ||
        text->size < (size_t)f->least || memchr(text->ptr, 0, text->size))
        wire_read_fail(&d->r, "'%s' is not a text of %jd to %zu bytes", f->name,
                       (intmax_t)f->least, f->room - 1);
    else if (f->words && !wire_is_word(f->words, text->ptr, text->size))
        wire_read_fail(&d->r, "'%s' is none of %s", f->name, f->words);
    else
        memcpy(field_at(d->x, f->at), text->ptr, text->size);
}

static const msgpack_object_map *
get_map(struct wire_decoder *d, const struct wire_field *f)
{
    static const msgpack_object_map empty;
    const msgpack_object *o = wire_read_need(&d->r, f->name);

    if (o && o->type != MSGPACK_OBJECT_MAP)
        wire_read_fail(&d->r, "'%s' is not a map", f->name);
    return d->r.rc ? &empty : &o->via.map;
}

static void
get_value(struct wire_decoder *d, const msgpack_object_kv *kv,
          struct value *value)
{
    const size_t n = kv->key.via.str.size;

    if (n < 1 || n >= sizeof value->name || memchr(kv->key.via.str.ptr, 0, n)) {
        wire_read_fail(&d->r, "the name of a number has %zu bytes", n);
        return;
    }
    memcpy(value->name, kv->key.via.str.ptr, n);
    if (object_real(&kv->val, &value->value))
        wire_read_fail(&d->r, "'%s' is not a finite number", value->name);
}

static void
get_values(struct wire_decoder *d, const struct wire_field *f)
{
    const msgpack_object_map *map = get_map(d, f);
    struct value *value = field_at(d->x, f->at);

    if (!d->r.rc && map->size > f->greatest)
        wire_read_fail(&d->r, "more than %jd '%s'", (intmax_t)f->greatest,
                       f->name);
    for (size_t i = 0; !d->r.rc && i < map->size; i++)
        get_value(d, &map->ptr[i], &value[i]);
    if (!d->r.rc)
        *(size_t *)field_at(d->x, f->count) = map->size;
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
get_share(struct wire_decoder *d, const struct wire_field *f)
{
    const msgpack_object *o = wire_read_need(&d->r, f->name);
    int64_t *part = field_at(d->x, f->at);

    if (o && (object_two(o, f->greatest, part) || part[0] >= part[1]))
        wire_read_fail(&d->r, "'%s' is not [i, n] with i < n <= %jd", f->name,
                       (intmax_t)f->greatest);
}

static void
get_couples(struct wire_decoder *d, const struct wire_field *f)
{
    const msgpack_object_array *list = wire_read_array(&d->r, f->name);
    const int64_t most = count_images(d) ? count_images(d) - 1 : WIRE_SIZE_MAX;
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
    *(size_t *)field_at(d->x, f->count) = list->size;
    for (size_t i = 0; i < list->size; i++)
        if (object_two(&list->ptr[i], most, couple[i]))
            wire_read_fail(&d->r, "entry %zu of '%s' is not a pair of ids", i,
                           f->name);
}

/* [name, rows, width]; the name goes into `room`. */
static void
get_entry(struct wire_reader *r, const char *key, size_t i,
          const msgpack_object *o, struct table_rows *table,
          char room[TABLE_NAME_MAX])
{
    const msgpack_object_array *entry = &o->via.array;
    const msgpack_object_str *name;
    int64_t rows, width;

    if (o->type != MSGPACK_OBJECT_ARRAY || entry->size != 3 ||
        entry->ptr[0].type != MSGPACK_OBJECT_STR ||
        wire_object_whole(&entry->ptr[1], 1, WIRE_SIZE_MAX, &rows) ||
        wire_object_whole(&entry->ptr[2], 1, TABLE_WIDTH_MAX, &width)) {
        wire_read_fail(r, "entry %zu of '%s' is not a table", i, key);
        return;
    }
    name = &entry->ptr[0].via.str;
    if (!name->size || name->size >= TABLE_NAME_MAX ||
        memchr(name->ptr, 0, name->size)) {
        wire_read_fail(r, "entry %zu of '%s': a name has 1 .. %d bytes", i, key,
                       TABLE_NAME_MAX - 1);
        return;
    }
    table->name = memcpy(room, name->ptr, name->size);
    table->rows = (size_t)rows;
    table->width = (size_t)width;
}

/* The rows of a table that are in the message. */
static void
get_rows(struct wire_reader *r, struct table_rows *table)
{
    char name[WIRE_NAME_MAX];
    const struct wire_tensor *row =
        wire_msg_find(r->msg, tensor_name(name, table, "row"));

    if (!row)
        return;
    if (row->dtype != DTYPE_U1 || row->rank != 2 || !row->count ||
        row->shape[1] != table->width)
        wire_read_fail(r, "tensor '%s' is not u1 [k,%zu]", name, table->width);
    table->n = row->shape[0];
    table->row = row->data;
}

/* Reads the index in the table of each row that was received. */
static void
get_places(struct wire_reader *r, struct table_rows *table)
{
    char name[WIRE_NAME_MAX];
    const struct wire_tensor *at =
        wire_msg_find(r->msg, tensor_name(name, table, "at"));

    if (!at && !table->n)
        return;
    if (!at || at->dtype != DTYPE_I8 || at->rank != 1 ||
        at->count != table->n) {
        wire_read_fail(r, "tensor '%s' is not i8 [%zu], an index for each row",
                       name, table->n);
        return;
    }
    table->at = at->data;
    for (size_t i = 0; i < table->n; i++)
        if (table->at[i] < 0 || (uint64_t)table->at[i] >= table->rows)
            wire_read_fail(r, "'%s' has %jd, want 0 .. %zu", name,
                           (intmax_t)table->at[i], table->rows - 1);
}

/* Sets an array to be freed by free(), or NULL when there is none or it is
 * invalid. */
static void
get_tables(struct wire_decoder *d, const struct wire_field *f)
{
    struct wire_reader *r = &d->r;
    const char *key = f->name;
    const msgpack_object *o = wire_read_need(r, key);
    size_t *n = field_at(d->x, f->count);
    struct table_rows *table;
    char(*names)[TABLE_NAME_MAX]; // behind the tables

    *n = 0;
    if (o &&
        (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size > TABLES_MAX))
        wire_read_fail(r, "'%s' is not a list of at most %d tables", key,
                       TABLES_MAX);
    if (r->rc || !o->via.array.size)
        return;
    table = mem_array(o->via.array.size, sizeof *table + sizeof *names);
    names = (void *)(table + o->via.array.size);
    for (; *n < o->via.array.size && !r->rc; ++*n) {
        get_entry(r, key, *n, &o->via.array.ptr[*n], &table[*n], names[*n]);
        for (size_t k = 0; k < *n && !r->rc; k++)
            if (!strcmp(table[k].name, table[*n].name))
                wire_read_fail(r, "table '%s' is there twice", table[k].name);
        if (!r->rc)
            get_rows(r, &table[*n]);
        if (!r->rc && f->placed)
            get_places(r, &table[*n]);
    }
    set_pointer(d->x, f->at, table); // freed with the struct
}

/* Sets the value of a missing field; returns 1 when the field is missing. */
static int
is_left_out(struct wire_decoder *d, const struct wire_field *f)
{
    const struct wire_field *with =
        f->with ? wire_field_find(d->m, f->with) : NULL;

    if (with && !has_field(d, with)) {
        if (f->shape && has_field(d, f))
            wire_read_fail(&d->r, "tensor '%s' is there without '%s'", f->name,
                           f->with);
    } else if (!f->optional || has_field(d, f)) {
        return 0;
    }
    if (f->type == WIRE_WHOLE)
        set_number(f, d->x, f->missing);
    if (f->shape)
        settle_shape(d, f, NULL);
    return 1;
}

/* The functions that read fields of each type; wire_decode() reads maps. */
static void (*const get_field[])(struct wire_decoder *,
                                 const struct wire_field *) = {
    [WIRE_WHOLE] = get_number,  [WIRE_COUNT] = get_number,
    [WIRE_REAL] = get_real,     [WIRE_FLAG] = get_flag,
    [WIRE_TEXT] = get_text,     [WIRE_SHARE] = get_share,
    [WIRE_VALUES] = get_values, [WIRE_COUPLES] = get_couples,
    [WIRE_TENSOR] = get_tensor, [WIRE_IDS] = get_tensor,
    [WIRE_TABLES] = get_tables,
};

/* Arrays of a decoded struct that are not in its message. */
static void
free_own(const struct wire_message *m, void *x)
{
    const struct wire_field *f;

    for (f = m->fields; f->name; f++)
        if (f->type == WIRE_COUPLES || f->type == WIRE_TABLES)
            free((void *)pointer_at(x, f->at));
}

static void
get_all(struct wire_decoder *d)
{
    const msgpack_object_map *header = d->r.map;
    const struct wire_field *f;
    size_t inside = 0; // rows that are left of a map in the header

    for (f = d->m->fields; f->name; f++) {
        if (f->type == WIRE_MAP) {
            d->r.map = get_map(d, f);
            inside = f->members;
            continue;
        }
        if (!is_left_out(d, f))
            get_field[f->type](d, f);
        if (inside && !--inside)
            d->r.map = header;
        if (d->r.rc)
            return;
    }
    if (d->m->check)
        d->m->check(d);
}

int
wire_decode(enum wire_kind kind, void *to, const struct wire_msg *msg,
            int64_t size, struct err *err)
{
    struct wire_decoder d = {.r = wire_read_start(msg, err),
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
    if (d.m->held) // holding changes only the number of references
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
