#include <stdlib.h>
#include <string.h>

#include "captions.h"
#include "eval/retrieve.h"
#include "util/mem.h"
#include "util/opt.h"

static enum eval_similarity metric;
static const char *within, *answers;
static int captions;

const struct opt retrieve_opts[] = {
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|raw",
     "rank by cosines, or by plain products"},
    {"within", 0, OPT_TEXT, &within, 0, 0, "FILE",
     "group of each row: rank within groups only"},
    {"captions", 0, OPT_FLAG, &captions, 0, 0, NULL,
     "the rows of the second are captions, any number an image"},
    {"answers", 0, OPT_TEXT, &answers, 0, 0, "FILE",
     "with --captions: write the best answers to each query"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* A row with the group that it is in. */
struct member {
    int64_t group;
    size_t row;
};

static int
by_group(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

/* The members of group groups[0], groups[1], ... lie together; without a list
 * all rows are one group. */
static struct member *
read_members(const char *path, size_t n)
{
    struct member *member = mem_array(n, sizeof *member);
    int64_t *group = NULL;
    struct err err;

    if (path && !(group = data_labels_read(path, n, &err)))
        die("%s", err.msg);
    for (size_t i = 0; i < n; i++)
        member[i] = (struct member){group ? group[i] : 0, i};
    qsort(member, n, sizeof *member, by_group);
    free(group);
    return member;
}

/* Ranks, [n] each, in the order of groups. */
struct ranks {
    double *forward, *backward;
    size_t groups;
};

/* Copies rows of one group to lie together. */
static float *
gather_rows(const struct data_features *f, size_t n,
            const struct member *member)
{
    float *x = mem_array(n * f->d, sizeof *x);

    for (size_t i = 0; i < n; i++)
        memcpy(x + i * f->d, f->x + member[i].row * f->d, f->d * sizeof *x);
    return x;
}

static void
rank_group(const struct data_features *u, const struct data_features *v,
           enum eval_similarity similarity, size_t n,
           const struct member *member, double *forward, double *backward)
{
    float *x = gather_rows(u, n, member), *y = gather_rows(v, n, member);

    eval_retrieve(n, u->d, x, y, similarity, forward, backward);
    free(x);
    free(y);
}

static struct ranks
rank_all(const struct data_features *u, const struct data_features *v)
{
    struct member *member = read_members(within, u->n);
    struct ranks r = {mem_array(u->n, sizeof *r.forward),
                      mem_array(u->n, sizeof *r.backward), 0};

    for (size_t from = 0, to = 0; from < u->n; from = to) {
        while (to < u->n && member[to].group == member[from].group)
            to++;
        rank_group(u, v, metric, to - from, member + from, r.forward + from,
                   r.backward + from);
        r.groups++;
    }
    free(member);
    return r;
}

static json_t *
describe_ranks(size_t n, double *rank)
{
    const struct eval_ranks r = eval_ranks(n, rank);

    return json_pack("{s:f s:f s:f s:f s:f s:f}", "r1", r.at1, "r5", r.at5,
                     "r10", r.at10, "mrr", r.reciprocal, "mean_rank", r.mean,
                     "median_rank", r.median);
}

/* Both files are to hold the same samples in the same order. */
static void
check_pair(char **path, const struct data_features *u,
           const struct data_features *v)
{
    if (u->n != v->n || u->d != v->d)
        die("'%s' and '%s' differ in shape: they must hold two views of each "
            "image",
            path[0], path[1]);
    for (size_t i = 0; u->ids && v->ids && i < u->n; i++)
        if (u->ids[i] != v->ids[i])
            die("row %zu is sample %jd in '%s' and %jd in '%s'", i,
                (intmax_t)u->ids[i], path[0], (intmax_t)v->ids[i], path[1]);
}

static void
rank_views(char **path)
{
    struct data_features u, v;
    struct ranks ranks;
    json_t *line, *how;

    load(&u, path[0], NULL);
    load(&v, path[1], NULL);
    check_pair(path, &u, &v);
    ranks = rank_all(&u, &v);
    line = json_pack("{s:s s:s s:o s:o s:f}", "measure", "retrieve", "metric",
                     opt_choice(&metric), "forward",
                     describe_ranks(u.n, ranks.forward), "backward",
                     describe_ranks(u.n, ranks.backward), "chance",
                     (double)ranks.groups / (double)u.n);
    how = json_pack("{s:s s:I s:I s:s* s:o s:o}", "ties", "half", "groups",
                    (json_int_t)ranks.groups, "d", (json_int_t)u.d, "within",
                    within, "u", origin(path[0], &u), "v", origin(path[1], &v));
    print(line, how);
    free(ranks.forward);
    free(ranks.backward);
    data_features_release(&u);
    data_features_release(&v);
}

void
run_retrieve(char **path)
{
    if (answers && !captions)
        opt_misuse("--answers is for --captions");
    if (captions && (within || metric != EVAL_PAIR_COSINE))
        opt_misuse("--captions goes without --within and --metric");
    if (captions)
        captions_rank(path, answers);
    else
        rank_views(path);
}
