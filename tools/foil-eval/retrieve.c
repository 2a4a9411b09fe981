#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "eval/column.h"
#include "eval/knn.h"
#include "eval/pca.h"
#include "eval/retrieve.h"
#include "util/file.h"
#include "util/mem.h"

/* The verbs that match images with views or captions: retrieve and cca. */

static enum eval_similarity metric;
static const char *within, *answers_file;
static int captions;
static long components = 120, principal = 500;
static double ridge = 0.1;

static const struct opt retrieve_own[] = {
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|raw",
     "rank by cosines, or by inner products"},
    {"within", 0, OPT_TEXT, &within, 0, 0, "FILE",
     "group of each row: rank within groups only"},
    {"captions", 0, OPT_FLAG, &captions, 0, 0, NULL,
     "rows of the second file are captions, any number per image"},
    {"answers", 0, OPT_TEXT, &answers_file, 0, 0, "FILE",
     "with --captions: write the best answers to each query"},
    {0},
};
verb_opts retrieve_opts = {retrieve_own, threads_opts, output_opts, NULL};

static const struct opt cca_own[] = {
    {"components", 'k', OPT_WHOLE, &components, 1, 65536, "N",
     "maximum pairs of directions"},
    {"principal", 0, OPT_WHOLE, &principal, 1, 65536, "N",
     "maximum principal directions of each side"},
    {"ridge", 0, OPT_REAL, &ridge, 0, 1e6, "X",
     "added to variances, as a share of their mean"},
    {0},
};
verb_opts cca_opts = {cca_own, threads_opts, output_opts, NULL};

/* Ranks rows both ways within their groups, or all rows without --within;
 * returns the number of groups.  forward, backward: [n], in order of groups */
static size_t
rank_groups(const struct data_features *u, const struct data_features *v,
            double *forward, double *backward)
{
    const size_t n = u->n, d = u->d;
    struct eval_answers own = {.offset = mem_array(n + 1, sizeof *own.offset),
                               .j = mem_array(n, sizeof *own.j)};
    int64_t *group;
    size_t *order, groups = 0;
    float *x = mem_array(n * d, sizeof *x), *y = mem_array(n * d, sizeof *y);
    struct err err;

    group = within ? data_labels_read(within, n, &err)
                   : mem_array(n, sizeof *group);
    or_die(!group, &err);
    order = eval_order(n, NULL, group);
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * d, u->x + order[i] * d, d * sizeof *x);
        memcpy(y + i * d, v->x + order[i] * d, d * sizeof *y);
        own.j[i] = i; // of query i of any group
        own.offset[i + 1] = i + 1;
    }
    for (size_t from = 0, to = 0; from < n; from = to, groups++) {
        while (to < n && group[order[to]] == group[order[from]])
            to++;
        own.n = to - from;
        eval_answers_rank(&own, own.n, d, x + from * d, y + from * d, metric,
                          forward + from);
        eval_answers_rank(&own, own.n, d, y + from * d, x + from * d, metric,
                          backward + from);
    }
    eval_answers_release(&own);
    mem_free(group, order, y, x);
    return groups;
}

/* Adds r1, r5 and r10 to *sum, for r_mean. */
static json_t *
describe_ranks(size_t n, double *rank, double *sum)
{
    const struct eval_ranks r = eval_ranks(n, rank);

    *sum += r.at1 + r.at5 + r.at10;
    return json_pack("{s:f s:f s:f s:f s:f s:f}", "r1", r.at1, "r5", r.at5,
                     "r10", r.at10, "mrr", r.reciprocal, "mean_rank", r.mean,
                     "median_rank", r.median);
}

static void
rank_views(char **path)
{
    struct data_features u, v;
    double *forward, *backward, sum = 0;
    size_t groups;
    json_t *line, *how;

    load(&u, path[0], NULL);
    load(&v, path[1], NULL);
    if (u.n != v.n || u.d != v.d)
        die("'%s' and '%s' differ in shape: they must hold two views of each "
            "image",
            path[0], path[1]);
    for (size_t i = 0; u.ids && v.ids && i < u.n; i++)
        if (u.ids[i] != v.ids[i])
            die("row %zu is sample %jd in '%s' and %jd in '%s'", i,
                (intmax_t)u.ids[i], path[0], (intmax_t)v.ids[i], path[1]);
    forward = mem_array(u.n, sizeof *forward);
    backward = mem_array(u.n, sizeof *backward);
    groups = rank_groups(&u, &v, forward, backward);
    line = json_pack("{s:s s:s s:o s:o s:f}", "measure", "retrieve", "metric",
                     opt_choice(&metric), "forward",
                     describe_ranks(u.n, forward, &sum), "backward",
                     describe_ranks(u.n, backward, &sum), "chance",
                     (double)groups / (double)u.n);
    how = json_pack("{s:s s:I s:I s:s* s:o s:o}", "ties", "half", "groups",
                    (json_int_t)groups, "d", (json_int_t)u.d, "within", within,
                    "u", origin(path[0], &u), "v", origin(path[1], &v));
    print(line, how);
    mem_free(forward, backward);
    data_features_release(&u);
    data_features_release(&v);
}

/* Images and captions. */
struct both {
    struct data_features image, text;
};

/* Reads features of images and of captions, with the ids of both; one_space:
 * they must have the same width. */
static void
load_both(struct both *b, char **path, int one_space)
{
    load(&b->image, path[0], NULL);
    load(&b->text, path[1], NULL);
    if (one_space && b->image.d != b->text.d)
        die("'%s' has %zu columns and '%s' has %zu: images and captions must "
            "be embeddings in one space",
            path[0], b->image.d, path[1], b->text.d);
    if (!b->image.ids || !b->text.ids)
        die("'%s' has no .ids.npy, with the sample ids that match captions to "
            "images",
            path[b->image.ids != NULL]);
}

static void
release_both(struct both *b)
{
    data_features_release(&b->image);
    data_features_release(&b->text);
}

static json_t *
describe_direction(const struct eval_answers *answers,
                   const struct data_features *from,
                   const struct data_features *to, const char *path,
                   double *sum)
{
    double *rank = mem_array(answers->n, sizeof *rank);
    json_t *line;
    size_t n = 0;

    eval_answers_rank(answers, to->n, from->d, from->x, to->x, EVAL_PAIR_COSINE,
                      rank);
    for (size_t i = 0; i < answers->n; i++)
        if (rank[i] > 0) // without an answer, a query does not count
            rank[n++] = rank[i];
    if (!n)
        die("no row of '%s' has the id of a row of the other file", path);
    line = describe_ranks(n, rank, sum);
    json_object_update_new(line, json_pack("{s:f s:I s:I}", "chance",
                                           eval_answers_chance(answers, to->n),
                                           "queries", (json_int_t)n, "left_out",
                                           (json_int_t)(answers->n - n)));
    free(rank);
    return line;
}

/* Prints a line by one rule.  By `equal`, equal captions count as one, and all
 * their images are right answers. */
static void
report_captions(const char *measure, const char *rule, char **path,
                struct both *b, json_t *how)
{
    const struct data_features *image = &b->image, *text = &b->text;
    struct eval_answers texts, images, alike; // of images, of captions
    double sum = 0;
    json_t *tr, *ir;

    texts = eval_answers_by_key(image->n, image->ids, text->n, text->ids);
    images = eval_answers_by_key(text->n, text->ids, image->n, image->ids);
    if (!strcmp(rule, "equal")) {
        alike = eval_answers_by_key(text->n, text->same, text->n, text->same);
        eval_answers_join(&texts, &alike);
        eval_answers_join(&alike, &images);
        eval_answers_release(&images);
        images = alike;
    }
    tr = describe_direction(&texts, image, text, path[0], &sum);
    ir = describe_direction(&images, text, image, path[1], &sum);
    json_object_update_new(
        how, json_pack("{s:s s:s s:I s:o s:o}", "metric", "cosine", "ties",
                       "half", "d", (json_int_t)b->image.d, "images",
                       origin(path[0], &b->image), "captions",
                       origin(path[1], &b->text)));
    print(json_pack("{s:s s:s s:o s:o s:f s:f}", "measure", measure, "rule",
                    rule, "image_to_text", tr, "text_to_image", ir, "r_sum",
                    sum, "r_mean", sum / 6),
          how);
    eval_answers_release(&texts);
    eval_answers_release(&images);
}

/* Prints how images retrieve captions and captions images, by the rule
 * `equal`, if equal captions are known, and by `strict`; adds `how` to each
 * line and releases it. */
static void
report_both(const char *measure, char **path, struct both *b, json_t *how)
{
    // the rule `equal` is the main result
    if (b->text.same)
        report_captions(measure, "equal", path, b, json_copy(how));
    else
        log_message(
            "'%s' has no .same.npy: equal captions count as different, by the "
            "rule strict only",
            path[1]);
    report_captions(measure, "strict", path, b, how);
}

enum { BEST = 10 };

/* Writes a line for each query: direction, row, rows of its best answers. */
static void
list_best(FILE *out, const char *way, const struct data_features *from,
          const struct data_features *to)
{
    struct eval_knn *knn = eval_knn_new(to->n, to->d, to->x, EVAL_COSINE);
    const size_t k = to->n < BEST ? to->n : BEST;
    uint32_t *best = mem_array(from->n * k, sizeof *best);

    eval_knn_find(knn, from->n, from->x, k, EVAL_NO_SELF, best, NULL);
    for (size_t i = 0; i < from->n; i++) {
        fprintf(out, "%s\t%zu", way, i);
        for (size_t j = 0; j < k; j++)
            fprintf(out, "\t%u", best[i * k + j]);
        fputc('\n', out);
    }
    free(best);
    eval_knn_free(knn);
}

void
run_retrieve(char **path)
{
    struct file_draft draft = {0};
    struct both b;
    struct err err;

    if (answers_file && !captions)
        opt_misuse("--answers is for --captions");
    if (captions && (within || metric != EVAL_PAIR_COSINE))
        opt_misuse("--captions goes without --within and --metric");
    if (!captions) {
        rank_views(path);
        return;
    }
    load_both(&b, path, 1);
    report_both("captions", path, &b, json_object());
    if (answers_file) {
        or_die(file_draft_open(&draft, answers_file, &err), &err);
        list_best(draft.file, "image_to_text", &b.image, &b.text);
        list_best(draft.file, "text_to_image", &b.text, &b.image);
        or_die(file_draft_keep(&draft, &err), &err);
    }
    release_both(&b);
}

/* The image row of each caption: [text.n], to be freed. */
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

/* Learns the maps of images and captions from their pairs. */
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
    mem_free(correlation, x, owner);
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

void
run_cca(char **path)
{
    struct both b, new;
    const struct data_features *old[] = {&b.image, &b.text};
    const struct data_features *later[] = {&new.image, &new.text};
    struct eval_map image, text;
    json_t *how;

    load_both(&b, path, 0);
    load_both(&new, path + 2, 0);
    for (size_t i = 0; i < 2; i++)
        if (old[i]->d != later[i]->d)
            die("'%s' has %zu columns and '%s' has %zu: use one encoder",
                path[i], old[i]->d, path[2 + i], later[i]->d);
    learn_maps(path, &b, &image, &text);
    map_rows(&image, &new.image);
    map_rows(&text, &new.text);
    how = json_pack("{s:f s:I s:{s:o s:o}}", "ridge", ridge, "principal",
                    (json_int_t)principal, "learnt_from", "images",
                    origin(path[0], &b.image), "captions",
                    origin(path[1], &b.text));
    report_both("cca", path + 2, &new, how);
    mem_free(image.basis, text.basis);
    release_both(&b);
    release_both(&new);
}
