#include "told.h"

#include <stdlib.h>
#include <string.h>

#include "eval/column.h"
#include "text/captions.h"
#include "util/mem.h"

enum { LISTED = 10 };

/* The arguments of told_captions(). */
struct told_of {
    size_t n, each;
    const size_t *item;
    const double *x;
};

/* A caption and its number. */
struct told {
    double x;
    size_t item, len, equal; /* equal: how many captions have these bytes */
    const char *text;
};

static int
by_text(const void *a, const void *b)
{
    const struct told *s = a, *t = b;
    const size_t least = s->len < t->len ? s->len : t->len;
    const int differ = least ? memcmp(s->text, t->text, least) : 0;

    return differ ? differ : (s->len > t->len) - (s->len < t->len);
}

static int
by_number(const void *a, const void *b)
{
    const struct told *s = a, *t = b;

    if (s->x != t->x)
        return s->x < t->x ? -1 : 1;
    return (s->item > t->item) - (s->item < t->item);
}

/* The captions of those of the column that have one, to be freed. */
static struct told *
list_told(const struct data_set *set, const struct told_of *c, size_t *n)
{
    struct told *told = mem_array(c->n, sizeof *told);

    for (size_t i = *n = 0; i < c->n; i++) {
        const size_t id = c->item[i] / c->each, k = c->item[i] % c->each;
        struct told *t = &told[*n];

        if (k >= data_captions_count(data_caption(set, id)))
            continue;
        *t = (struct told){.x = c->x[i], .item = c->item[i]};
        t->text = data_captions_get(data_caption(set, id), k, &t->len);
        (*n)++;
    }
    qsort(told, *n, sizeof *told, by_text);
    for (size_t from = 0, to = 0; from < *n; from = to) {
        while (to < *n && !by_text(told + from, told + to))
            to++;
        for (size_t i = from; i < to; i++)
            told[i].equal = to - from;
    }
    return told;
}

static json_t *
list_captions(const struct told_of *c, size_t n, const struct told *told,
              int largest)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n && i < LISTED; i++) {
        const struct told *t = told + (largest ? n - 1 - i : i);

        json_array_append_new(
            list, json_pack("{s:f s:I s:I s:I s:s%}", "value", t->x, "sample",
                            (json_int_t)(t->item / c->each), "caption",
                            (json_int_t)(t->item % c->each), "equal",
                            (json_int_t)t->equal, "text", t->text, t->len));
    }
    return list;
}

json_t *
told_captions(const struct data_set *set, size_t all, const size_t *item,
              size_t each, const double *number)
{
    const struct told_of c = {all, each, item, number};
    size_t n;
    struct told *told = list_told(set, &c, &n);
    double *x = mem_array(n, sizeof *x), *equal = mem_array(n, sizeof *equal);
    json_t *json;

    qsort(told, n, sizeof *told, by_number);
    for (size_t i = 0; i < n; i++) {
        x[i] = told[i].x;
        equal[i] = (double)told[i].equal;
    }
    json = json_pack("{s:I s:f s:o s:o}", "n", (json_int_t)n, "equal_spearman",
                     n ? eval_spearman(n, equal, x) : 0, "smallest",
                     list_captions(&c, n, told, 0), "largest",
                     list_captions(&c, n, told, 1));
    free(equal);
    free(x);
    free(told);
    return json;
}
