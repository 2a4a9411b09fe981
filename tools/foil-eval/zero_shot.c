#include <stdlib.h>

#include "eval.h"
#include "eval/retrieve.h"
#include "util/mem.h"
#include "util/opt.h"

const struct opt zero_shot_opts[] = {
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* A class has one text, or it could not be said which one is meant. */
static void
check_texts(const struct pair *pair, const char *path)
{
    const struct data_features *texts = &pair->train;
    uint8_t *there = mem_array(pair->classes, sizeof *there);

    for (size_t j = 0; j < texts->n; j++)
        if (there[texts->labels[j]]++)
            die("'%s' has several rows of class %jd: want one a class, as "
                "'foil-embed --classes' writes them",
                path, (intmax_t)texts->labels[j]);
    free(there);
}

/* The share of images that are right; null where there is none. */
static json_t *
share_of(size_t right, size_t images)
{
    return images ? json_real((double)right / (double)images) : json_null();
}

/* Each class that has images or a text; adds up what is right in all. */
static json_t *
list_classes(const struct pair *pair, const struct eval_hits *hits,
             struct eval_hits *all, double *mean)
{
    const struct data_classes *names = &pair->train.classes;
    json_t *list = json_array();
    size_t seen = 0;

    for (size_t c = 0; c < pair->classes; c++) {
        const struct eval_hits h = hits[c];
        json_t *name = c < names->n ? json_string(names->name[c])
                                    : json_integer((json_int_t)c);

        all->images += h.images;
        all->at1 += h.at1;
        all->at3 += h.at3;
        all->at5 += h.at5;
        seen += h.images > 0;
        *mean += h.images ? (double)h.at1 / (double)h.images : 0;
        json_array_append_new(list,
                              json_pack("{s:o s:I s:o s:o s:o}", "class", name,
                                        "size", (json_int_t)h.images, "top1",
                                        share_of(h.at1, h.images), "top3",
                                        share_of(h.at3, h.images), "top5",
                                        share_of(h.at5, h.images)));
    }
    *mean /= (double)seen;
    return list;
}

static void
report_classes(const struct pair *pair, char **path)
{
    const struct data_features *images = pair->test, *texts = &pair->train;
    struct eval_hits *hits = mem_array(pair->classes, sizeof *hits), all = {0};
    double mean = 0;
    json_t *classes, *how;

    eval_zero_shot(images->d, images->n, images->x, images->labels, texts->n,
                   texts->x, texts->labels, pair->classes, hits);
    classes = list_classes(pair, hits, &all, &mean);
    how = json_pack(
        "{s:s s:s s:s s:I s:I s:I s:o s:o}", "metric", "cosine", "ties", "half",
        "matched", pair->matched, "texts", (json_int_t)texts->n, "unseen",
        (json_int_t)pair->unseen, "d", (json_int_t)images->d, "images",
        origin(path[0], images), "classes_from", origin(path[1], texts));
    print(json_pack("{s:s s:o s:o s:o s:f s:f s:o}", "measure", "zero-shot",
                    "top1", share_of(all.at1, all.images), "top3",
                    share_of(all.at3, all.images), "top5",
                    share_of(all.at5, all.images), "class_mean", mean, "chance",
                    1 / (double)texts->n, "classes", classes),
          how);
    free(hits);
}

void
run_zero_shot(char **path)
{
    char *turned[] = {path[1], path[0], NULL};
    struct pair pair;

    pair_load(&pair, NULL, turned);
    check_texts(&pair, path[1]);
    report_classes(&pair, path);
    pair_release(&pair);
}
