#include <stdio.h>
#include <stdlib.h>

#include "eval/knn.h"
#include "eval/pairs.h"
#include "method.h"
#include "util/mem.h"

static long epochs = 16, nearest = 10;
static const char *picture;

const struct opt plan_opts[] = {
    METHOD_STRATEGY_OPT,
    METHOD_BATCHES_OPT,
    {"epochs", 0, OPT_WHOLE, &epochs, 1, 1e6, "N",
     "epochs of the plan; a result after 1, 2, 4 ... and the last"},
    {"neighbours", 'k', OPT_WHOLE, &nearest, 1, 1024, "K",
     "hardest negatives of each sample"},
    {"plot", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw it as PNG, and keep the script"},
    INSTRUMENT_OPTS,
    {0},
};

/* A point of the picture. */
struct moment {
    size_t batch, epochs;
    struct eval_pairs_figures figures;
};

struct plans {
    struct instrument in;
    size_t k;
    uint32_t *near; /* [samples,k] */
    struct moment *moment;
    size_t n, room;
};

/* Of each sample those whose second view is nearest to its first. */
static void
find_hardest(struct plans *p)
{
    const struct eval_views *rows = &p->in.rows;
    const size_t n = rows->samples;
    struct eval_knn *knn =
        eval_knn_new(n, rows->d, rows->v + n * rows->d, EVAL_COSINE);

    p->k = (size_t)nearest < n ? (size_t)nearest : n - 1;
    p->near = mem_array(n * p->k, sizeof *p->near);
    eval_knn_find(knn, n, rows->v, p->k, 0, p->near, NULL);
    eval_knn_free(knn);
}

static void
report_moment(struct plans *p, const struct eval_pairs *pairs, size_t batch,
              size_t seen)
{
    const struct eval_pairs_figures f =
        eval_pairs_measure(pairs, p->k, p->near);
    json_t *how = instrument_protocol(&p->in);

    json_object_update_new(how, json_pack("{s:s s:I}", "strategy",
                                          method_how.strategy, "neighbours",
                                          (json_int_t)p->k));
    print(json_pack("{s:s s:I s:I s:f s:f s:f s:f s:I s:I}", "measure", "plan",
                    "batch", (json_int_t)batch, "epochs", (json_int_t)seen,
                    "coverage", f.coverage, "hardest", f.hardest, "again",
                    f.again, "second", f.second, "parts", (json_int_t)f.parts,
                    "unseen", (json_int_t)f.unseen),
          how);
    mem_grow(&p->moment, &p->room, p->n + 1, sizeof *p->moment);
    p->moment[p->n++] = (struct moment){batch, seen, f};
}

static void
follow_plan(struct plans *p, struct method *method)
{
    const size_t last = (size_t)epochs;
    struct eval_frozen *frozen = method_new(&p->in, method);
    struct eval_pairs pairs;
    struct eval_batch batch;
    size_t next = 1;

    eval_pairs_init(&pairs, p->in.rows.samples);
    for (size_t epoch = 0; epoch < last; epoch++) {
        for (size_t step = 0; step < eval_frozen_steps(frozen); step++) {
            method_next(frozen, epoch, step, &batch);
            eval_pairs_add(&pairs, batch.b, batch.ids);
        }
        if (epoch + 1 != next && epoch + 1 != last)
            continue;
        report_moment(p, &pairs, method->how.batch, epoch + 1);
        next *= 2;
    }
    eval_pairs_release(&pairs);
    eval_frozen_free(frozen);
}

/* A panel of the picture: one figure by epochs, a line for each batch. */
static void
write_figures(FILE *out, const struct plans *p, const char *name, int column)
{
    size_t hue = 0;

    fprintf(out, "set ylabel \"%s\"\nplot ", name);
    for (size_t i = 0; i < p->n; i++) {
        if (i && p->moment[i].batch == p->moment[i - 1].batch)
            continue;
        fprintf(out,
                "%s$plan using ($1 == %zu ? $2 : NaN):%d with linespoints lw 2 "
                "pt 7 lc rgb \"#%s\" title \"batches of %zu\"",
                hue ? ", " : "", p->moment[i].batch, column, plot_hue(hue),
                p->moment[i].batch);
        hue++;
    }
    fputs("\n", out);
}

static void
draw_plans(const struct plans *p)
{
    struct plot script;
    FILE *out = plot_open(&script);

    fputs("# batch, epochs, coverage, hardest, again, second\n$plan << END\n",
          out);
    for (size_t i = 0; i < p->n; i++) {
        const struct moment *m = &p->moment[i];

        fprintf(out, "%zu %zu %g %g %g %g\n", m->batch, m->epochs,
                m->figures.coverage, m->figures.hardest, m->figures.again,
                m->figures.second);
    }
    fputs("END\nset terminal pngcairo size 1200,840\n"
          "set multiplot layout 2,2\nset grid\nset logscale x 2\n"
          "set yrange [0:1]\nset xlabel \"epochs\"\nset key outside top center "
          "horizontal\n",
          out);
    write_figures(out, p, "pairs that have met, of all", 3);
    write_figures(out, p, "of the hardest pairs", 4);
    write_figures(out, p, "meetings of pairs that had met", 5);
    write_figures(out, p, "second eigenvalue", 6);
    plot(&script, picture);
}

void
run_plan(char **path)
{
    size_t batch[METHOD_MOST], batches;
    struct plans p = {.n = 0};
    struct method method;

    method_read(&method, "simclr"); // of any objective: its plan alone counts
    method_open(&p.in, path, 0);
    batches = method_batches(p.in.rows.samples, batch);
    find_hardest(&p);
    for (size_t k = 0; k < batches; k++) {
        method.how.batch = batch[k];
        follow_plan(&p, &method);
    }
    if (picture)
        draw_plans(&p);
    free(p.near);
    free(p.moment);
    instrument_release(&p.in);
}
