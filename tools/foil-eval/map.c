#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "eval.h"
#include "eval/pca.h"
#include "eval/tsne.h"
#include "num/vec.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"

enum method { TSNE, COMPONENTS };

static const char *output, *picture, *thumbnails, *images;
static enum method method;
static enum { COSINE, EUCLIDEAN } metric;
static double perplexity = 30;
static long steps = 1000, size = 32;

const struct opt map_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the points, .npy, of one file of features after the other"},
    {"plot", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw them as PNG, coloured by class, and keep the script"},
    {"thumbnails", 0, OPT_TEXT, &thumbnails, 0, 0, "FILE",
     "draw the images where they lie, as PNG"},
    {"images", 0, OPT_TEXT, &images, 0, 0, "DATA",
     "the data set that --thumbnails draws"},
    {"size", 0, OPT_WHOLE, &size, 8, 160, "N",
     "width and height of a thumbnail"},
    {"method", 0, OPT_CHOICE, &method, 0, 0, "tsne|pca",
     "by neighbours, or two principal components"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {"perplexity", 0, OPT_REAL, &perplexity, 1, 1e4, "X",
     "about how many neighbours count"},
    {"iterations", 0, OPT_WHOLE, &steps, 0, 1e6, "N",
     "steps, behind 250 that gather neighbours"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* The share of the variance is the result. */
static json_t *
project_frame(struct frame *frame)
{
    const size_t n = frame->f.n, d = frame->f.d;
    float *basis = mem_array(3 * d, sizeof *basis);
    struct eval_pca pca;

    if (d < 2)
        die("'%s' has one column, and a map has two", frame->path);
    pca = eval_pca(n, d, frame->f.x, 2, basis);
    for (size_t i = 0; i < 2 * n; i++)
        frame->y[i] =
            (float)(num_dot(d, basis + i % 2 * d, frame->f.x + i / 2 * d) -
                    num_dot(d, basis + i % 2 * d, basis + 2 * d));
    free(basis);
    return json_pack("{s:s s:s s:f}", "measure", "map", "method", "pca",
                     "share", pca.share);
}

/* As large as the rows allow: three times as many neighbours are looked at. */
static double
fit_perplexity(const struct frame *frame)
{
    const double most = ((double)frame->f.n - 1) / 3;

    if (perplexity <= most)
        return perplexity;
    say("'%s' has %zu rows: the perplexity is %.4g", frame->path, frame->f.n,
        most);
    return most;
}

static json_t *
embed_frame(struct frame *frame, const float *start)
{
    const double fit = fit_perplexity(frame);
    const double total = (double)steps + EVAL_TSNE_EARLY;
    struct eval_tsne *map;
    struct progress progress;
    json_t *line;

    progress_start(&progress, "steps", 0, total);
    map = eval_tsne_new(frame->f.n, frame->f.d, frame->f.x, fit, start);
    for (double done = 0; done < total; done++) {
        progress_show(&progress, done, frame->path);
        eval_tsne_step(map);
    }
    progress_clear(&progress);
    memcpy(frame->y, eval_tsne_points(map), 2 * frame->f.n * sizeof *frame->y);
    if (start)
        eval_tsne_turn(frame->f.n, start, frame->y);
    line = json_pack("{s:s s:s s:f s:f s:I}", "measure", "map", "method",
                     "tsne", "divergence", eval_tsne_divergence(map),
                     "perplexity", fit, "steps", (json_int_t)total);
    eval_tsne_free(map);
    return line;
}

/* Reads features of the same samples as the frame before. */
static void
load_frame(struct frame *frame, const char *path, const struct frame *before)
{
    struct data_features *f = &frame->f;

    frame->path = path;
    load(f, path, NULL);
    if (f->n < 4)
        die("'%s' has %zu row%s, and a map needs four", path, f->n,
            plural(f->n));
    if (before &&
        (f->n != before->f.n || !f->ids != !before->f.ids ||
         (f->ids && memcmp(f->ids, before->f.ids, f->n * sizeof *f->ids))))
        die("'%s' and '%s' are of other samples: the frames of a film are "
            "features of the same ones",
            before->path, path);
    if (metric == COSINE)
        num_unit_rows(f->n, f->d, f->x, f->x, NULL);
    frame->y = mem_array(2 * f->n, sizeof *frame->y);
}

static void
write_points(const struct frame *frame, size_t n)
{
    const size_t rows = frame->f.n;
    struct data_npy npy = {.type = DATA_F4, .rank = 2, .shape = {n * rows, 2}};
    float *y = mem_array(n * rows * 2, sizeof *y);
    struct err err;

    for (size_t k = 0; k < n; k++)
        memcpy(y + k * rows * 2, frame[k].y, rows * 2 * sizeof *y);
    npy.data = y;
    if (data_npy_write(output, &npy, &err))
        die("%s", err.msg);
    free(y);
}

static void
check_options(char **path)
{
    if (!output && !picture && !thumbnails)
        opt_misuse("wants something to make: -o, --plot or --thumbnails");
    if (!thumbnails != !images)
        opt_misuse("--thumbnails wants --images, and the other way round");
    for (char **each = path; *each; each++)
        if (output && file_same(output, *each))
            opt_misuse("'%s' is read from: it would be lost", output);
    if (thumbnails && path[1])
        opt_misuse("--thumbnails draws one file of features");
}

static void
make_frame(struct frame *frame, const struct frame *before)
{
    json_t *origins = origin(frame->path, &frame->f);
    json_t *line = method == TSNE
                       ? embed_frame(frame, before ? before->y : NULL)
                       : project_frame(frame);

    print(line, json_pack("{s:s s:o}", "metric",
                          metric == COSINE ? "cosine" : "euclidean", "features",
                          origins));
}

void
run_map(char **path)
{
    struct frame *frame = NULL;
    size_t n = 0, room = 0;

    check_options(path);
    for (; path[n]; n++) {
        mem_grow(&frame, &room, n + 1, sizeof *frame);
        frame[n] = (struct frame){0};
        load_frame(&frame[n], path[n], n ? &frame[n - 1] : NULL);
    }
    if (thumbnails)
        map_check_images(frame, images);
    for (size_t k = 0; k < n; k++)
        make_frame(&frame[k], k ? &frame[k - 1] : NULL);
    if (output)
        write_points(frame, n);
    if (picture)
        map_plot(picture, frame, n);
    if (thumbnails)
        map_thumbnails(thumbnails, frame, images, (size_t)size);
    for (size_t k = 0; k < n; k++) {
        data_features_release(&frame[k].f);
        free(frame[k].y);
    }
    free(frame);
}
