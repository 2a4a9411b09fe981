#include "eval/cca.h"

#include <stdlib.h>
#include <string.h>

#include "captions.h"
#include "util/mem.h"
#include "util/opt.h"

static long components = 120, principal = 500;
static double ridge = 0.1;

const struct opt cca_opts[] = {
    {"components", 'k', OPT_WHOLE, &components, 1, 65536, "N",
     "pairs of directions, at most"},
    {"principal", 0, OPT_WHOLE, &principal, 1, 65536, "N",
     "principal directions of each side, at most"},
    {"ridge", 0, OPT_REAL, &ridge, 0, 1e6, "X",
     "what is added to variances, in shares of their mean"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* Which row of the images each caption belongs to: [text.n], to be freed. */
static size_t *
find_owners(const struct both *b, char **path)
{
    struct eval_answers own =
        eval_answers_by_key(b->text.n, b->text.ids, b->image.n, b->image.ids);
    size_t *owner = mem_array(b->text.n, sizeof *owner);

    for (size_t i = 0; i < own.n; i++) {
        if (own.offset[i + 1] - own.offset[i] != 1)
            die("row %zu of '%s' belongs to sample %jd, which has %zu rows in "
                "'%s': want one",
                i, path[1], (intmax_t)b->text.ids[i],
                own.offset[i + 1] - own.offset[i], path[0]);
        owner[i] = own.j[own.offset[i]];
    }
    eval_answers_release(&own);
    return owner;
}

/* The maps of images and captions, from the pairs of both. */
static void
learn_maps(char **path, const struct both *b, struct eval_map *image,
           struct eval_map *text)
{
    const size_t n = b->text.n, d = b->image.d;
    const size_t most = (size_t)components;
    struct eval_cca_settings s = {
        .p = (size_t)principal,
        .q = (size_t)principal,
        .ridge = ridge,
    };
    size_t *owner = find_owners(b, path);
    float *x = mem_array(n * d, sizeof *x), *correlation;

    if (n < 2)
        die("'%s' has %zu row: want two or more to learn from", path[1], n);
    for (size_t i = 0; i < n; i++)
        memcpy(x + i * d, b->image.x + owner[i] * d, d * sizeof *x);
    s.p = s.p < d ? s.p : d;
    s.p = s.p < n ? s.p : n;
    s.q = s.q < b->text.d ? s.q : b->text.d;
    s.q = s.q < n ? s.q : n;
    s.k = s.p < s.q ? s.p : s.q;
    s.k = s.k < most ? s.k : most;
    correlation = mem_array(s.k, sizeof *correlation);
    eval_cca(n, d, x, b->text.d, b->text.x, &s, image, text, correlation);
    free(correlation);
    free(x);
    free(owner);
}

static void
map_rows(const struct eval_map *map, struct data_features *f)
{
    float *x = mem_array(f->n * map->k, sizeof *x);

    eval_map_apply(map, f->n, f->x, x);
    free(f->x);
    f->x = x;
    f->d = map->k;
}

static void
check_widths(char **path, const struct both *b, const struct both *new)
{
    const struct data_features *old[] = {&b->image, &b->text};
    const struct data_features *later[] = {&new->image, &new->text};

    for (size_t i = 0; i < 2; i++)
        if (old[i]->d != later[i]->d)
            die("'%s' has %zu columns and '%s' %zu", path[i], old[i]->d,
                path[2 + i], later[i]->d);
}

void
run_cca(char **path)
{
    struct both b, new;
    struct eval_map image, text;
    json_t *how;

    pairs_load(&b, path);
    pairs_load(&new, path + 2);
    check_widths(path, &b, &new);
    learn_maps(path, &b, &image, &text);
    map_rows(&image, &new.image);
    map_rows(&text, &new.text);
    how = json_pack("{s:f s:I s:{s:o s:o}}", "ridge", ridge, "principal",
                    (json_int_t)principal, "learnt_from", "images",
                    origin(path[0], &b.image), "captions",
                    origin(path[1], &b.text));
    both_report("cca", path + 2, &new, how);
    eval_map_release(&image);
    eval_map_release(&text);
    both_release(&b);
    both_release(&new);
}
