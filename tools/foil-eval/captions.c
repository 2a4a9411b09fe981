#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "captions.h"
#include "eval/knn.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static void
check_ids(char **path, const struct both *b)
{
    if (!b->image.ids || !b->text.ids)
        die("'%s' has no .ids.npy beside it: a caption is its image's by the "
            "id of the sample",
            path[b->image.ids != NULL]);
}

/* Queries without an answer have rank 0: they do not count. */
static size_t
those_with_answers(size_t n, double *rank)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (rank[i] > 0)
            rank[kept++] = rank[i];
    return kept;
}

/* Adds r1, r5, r10 to what r_mean is the mean of. */
static json_t *
describe_direction(const struct eval_answers *answers, size_t m,
                   const struct data_features *from,
                   const struct data_features *to, const char *path,
                   double *sum)
{
    double *rank = mem_array(answers->n, sizeof *rank);
    const double chance = eval_answers_chance(answers, m);
    struct eval_ranks r;
    size_t n;

    eval_answers_rank(answers, m, from->d, from->x, to->x, rank);
    n = those_with_answers(answers->n, rank);
    if (!n)
        die("no row of '%s' has the id of a row of the other file", path);
    r = eval_ranks(n, rank);
    free(rank);
    *sum += r.at1 + r.at5 + r.at10;
    return json_pack("{s:f s:f s:f s:f s:f s:f s:f s:I s:I}", "r1", r.at1, "r5",
                     r.at5, "r10", r.at10, "mrr", r.reciprocal, "mean_rank",
                     r.mean, "median_rank", r.median, "chance", chance,
                     "queries", (json_int_t)n, "left_out",
                     (json_int_t)(answers->n - n));
}

/* Which captions answer which images; where `equal`, captions that are equal
 * answer as one, and so do all of their images. */
static void
find_answers(struct both *b, int equal)
{
    const struct data_features *image = &b->image, *text = &b->text;
    struct eval_answers alike;

    b->texts = eval_answers_by_key(image->n, image->ids, text->n, text->ids);
    b->images = eval_answers_by_key(text->n, text->ids, image->n, image->ids);
    if (!equal)
        return;
    alike = eval_answers_by_key(text->n, text->same, text->n, text->same);
    eval_answers_join(&b->texts, &alike);
    eval_answers_join(&alike, &b->images);
    eval_answers_release(&b->images);
    b->images = alike;
}

static void
report_captions(const char *measure, const char *rule, char **path,
                struct both *b, json_t *how)
{
    double sum = 0;
    json_t *tr, *ir;

    find_answers(b, !strcmp(rule, "equal"));
    tr = describe_direction(&b->texts, b->text.n, &b->image, &b->text, path[0],
                            &sum);
    ir = describe_direction(&b->images, b->image.n, &b->text, &b->image,
                            path[1], &sum);
    json_object_update_new(
        how, json_pack("{s:s s:s s:I s:o s:o}", "metric", "cosine", "ties",
                       "half", "d", (json_int_t)b->image.d, "images",
                       origin(path[0], &b->image), "captions",
                       origin(path[1], &b->text)));
    print(json_pack("{s:s s:s s:o s:o s:f s:f}", "measure", measure, "rule",
                    rule, "image_to_text", tr, "text_to_image", ir, "r_sum",
                    sum, "r_mean", sum / 6),
          how);
    eval_answers_release(&b->texts);
    eval_answers_release(&b->images);
}

void
both_report(const char *measure, char **path, struct both *b, json_t *how)
{
    // the rule `equal` is the headline, `strict` is printed beside it
    if (b->text.same)
        report_captions(measure, "equal", path, b, json_copy(how));
    else
        say("'%s' has no .same.npy beside it: captions that are equal count as "
            "different, by the rule strict alone",
            path[1]);
    report_captions(measure, "strict", path, b, how);
}

void
pairs_load(struct both *b, char **path)
{
    load(&b->image, path[0], NULL);
    load(&b->text, path[1], NULL);
    check_ids(path, b);
}

static void
both_load(struct both *b, char **path)
{
    load(&b->image, path[0], NULL);
    load(&b->text, path[1], NULL);
    if (b->image.d != b->text.d)
        die("'%s' has %zu columns and '%s' has %zu: images and captions are "
            "to be embeddings of one space",
            path[0], b->image.d, path[1], b->text.d);
    check_ids(path, b);
}

void
both_release(struct both *b)
{
    data_features_release(&b->image);
    data_features_release(&b->text);
}

/* ---------------------------------------------------------------- answers */

enum { BEST = 10 };

/* A line for each query: which way, its row, the rows of its best answers. */
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

static void
write_answers(const char *path, const struct both *b)
{
    struct err err;
    size_t len;
    char *text;
    FILE *out = open_memstream(&text, &len);

    REQUIRE(out);
    list_best(out, "image_to_text", &b->image, &b->text);
    list_best(out, "text_to_image", &b->text, &b->image);
    fclose(out);
    if (file_write(path, text, len, &err))
        die("%s", err.msg);
    free(text);
}

void
captions_rank(char **path, const char *answers)
{
    struct both b;

    both_load(&b, path);
    both_report("captions", path, &b, json_object());
    if (answers)
        write_answers(answers, &b);
    both_release(&b);
}
