#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "eval/answers.h"
#include "eval/retrieve.h"
#include "util/mem.h"
#include "util/opt.h"

/* Images and their captions, and who answers whom. */
struct both {
    struct data_features image, text;
    struct eval_answers texts, images; /* of images, of captions */
};

static void
check(const struct options *options, char **path, const struct both *b)
{
    if (options->within || strcmp(options->metric, "cosine"))
        opt_misuse("--captions goes without --within and --metric");
    if (b->image.d != b->text.d)
        die("'%s' has %zu columns and '%s' has %zu: images and captions are "
            "to be embeddings of one space",
            path[0], b->image.d, path[1], b->text.d);
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
direction(const struct eval_answers *answers, size_t m,
          const struct data_features *from, const struct data_features *to,
          const char *path, double *sum)
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

/* Who answers whom; where `equal`, captions that are equal answer as one, and
 * so do all of their images. */
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
report(const char *rule, char **path, struct both *b, int equal)
{
    double sum = 0;
    json_t *tr, *ir;

    find_answers(b, equal);
    tr = direction(&b->texts, b->text.n, &b->image, &b->text, path[0], &sum);
    ir = direction(&b->images, b->image.n, &b->text, &b->image, path[1], &sum);

    print(json_pack("{s:s s:s s:o s:o s:f s:f}", "measure", "captions", "rule",
                    rule, "image_to_text", tr, "text_to_image", ir, "r_sum",
                    sum, "r_mean", sum / 6),
          json_pack("{s:s s:s s:I s:o s:o}", "metric", "cosine", "ties", "half",
                    "d", (json_int_t)b->image.d, "images",
                    origin(path[0], &b->image), "captions",
                    origin(path[1], &b->text)));
    eval_answers_release(&b->texts);
    eval_answers_release(&b->images);
}

void
run_captions(const struct options *options, char **path)
{
    struct both b;

    load(&b.image, path[0], NULL);
    load(&b.text, path[1], NULL);
    check(options, path, &b);
    // the rule `equal` is the headline, `strict` is printed beside it
    if (b.text.same)
        report("equal", path, &b, 1);
    else
        say("'%s' has no .same.npy beside it: captions that are equal count as "
            "different, by the rule strict alone",
            path[1]);
    report("strict", path, &b, 0);
    data_features_release(&b.image);
    data_features_release(&b.text);
}
