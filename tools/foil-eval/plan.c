#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/knn.h"
#include "eval/pairs.h"
#include "instrument.h"
#include "loss/global.h"
#include "num/vec.h"
#include "run/batches.h"
#include "util/digest.h"
#include "util/mem.h"

static long epochs = 16, nearest = 10;
static double tau = 0.2;
static const char *run;

static const struct opt plan_own[] = {
    {"epochs", 0, OPT_WHOLE, &epochs, 1, 1e6, "N",
     "epochs of the plan; a result after 1, 2, 4 ... and the last"},
    {"neighbours", 'k', OPT_WHOLE, &nearest, 1, 1024, "K",
     "hardest negatives of each sample"},
    {"tau", 0, OPT_REAL, &tau, 1e-4, 1e4, "X", "temperature of the gradient"},
    {"run", 'r', OPT_TEXT, &run, 0, 0, "RUN",
     "use the batches of this run, instead of a plan's"},
    {0},
};
verb_opts plan_opts = {batches_opts, plan_own, plot_opts, INSTRUMENT_GROUPS};

/* A point of the picture. */
struct point {
    size_t batch, epochs;
    struct eval_pairs_figures figures;
};

struct plans {
    struct instrument in;
    size_t k;
    uint32_t *near; /* [samples,k] */
    struct eval_pairs pairs;
    /* the gradient of the embeddings of views 0 and 1: of the global loss, and
     * of the batches of an epoch, by dcl, or by clip across two kinds of
     * rows */
    const struct loss_objective *objective;
    struct loss_settings settings;
    size_t size;          /* 2 samples d */
    float *exact, *epoch; /* [size] */
    struct point *point;
    size_t n, room;
};

static void
find_gradient(struct plans *p)
{
    const struct eval_views *rows = &p->in.rows;
    const struct loss_global set = {rows->samples, 2, rows->d,
                                    1 / tau,       0, rows->cross};
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    struct err err;

    p->objective = loss_objective_find(rows->cross ? "clip" : "dcl", &err);
    p->settings = loss_settings_of(p->objective);
    p->settings.value[LOSS_TAU] = tau;
    p->size = 2 * rows->samples * rows->d;
    p->exact = mem_array(p->size, sizeof *p->exact);
    p->epoch = mem_array(p->size, sizeof *p->epoch);
    loss_global(&set, p->in.z, p->exact, work);
    free(work);
}

/* Adds a batch of n samples to the graph, and its gradient to that of its
 * epoch. */
static void
add_batch(struct plans *p, size_t n, const int64_t *ids)
{
    const size_t d = p->in.rows.d, samples = p->in.rows.samples;
    const struct loss_batch batch = {.b = n, .dim = d};
    struct loss_report report;
    float *z, *dz, *work;

    eval_pairs_add(&p->pairs, n, ids);
    if (n < 2)
        return;
    z = mem_array(2 * n * d, sizeof *z);
    dz = mem_array(2 * n * d, sizeof *dz);
    work = mem_array(loss_objective_size(p->objective, &batch), sizeof *work);
    for (size_t i = 0; i < 2 * n; i++)
        memcpy(z + i * d, p->in.z + (i / n * samples + (size_t)ids[i % n]) * d,
               d * sizeof *z);
    loss_objective_run(p->objective, &p->settings, &batch, z, NULL, dz, work,
                       &report);
    for (size_t i = 0; i < 2 * n; i++)
        num_axpy(d, 1, dz + i * d,
                 p->epoch + (i / n * samples + (size_t)ids[i % n]) * d);
    mem_free(z, dz, work);
}

static void
report_moment(struct plans *p, size_t batch, size_t seen)
{
    const struct eval_pairs_figures f =
        eval_pairs_measure(&p->pairs, p->k, p->near);
    const double product = num_dot(p->size, p->exact, p->epoch);
    const double squares = num_dot(p->size, p->exact, p->exact) *
                           num_dot(p->size, p->epoch, p->epoch);
    json_t *how = instrument_protocol(&p->in);

    json_object_update_new(how, json_pack("{s:s s:I}", run ? "run" : "strategy",
                                          run ? run : method_settings.strategy,
                                          "neighbours", (json_int_t)p->k));
    print(json_pack("{s:s s:I s:I s:f s:f s:f s:f s:f s:I s:I}", "measure",
                    "plan", "batch", (json_int_t)batch, "epochs",
                    (json_int_t)seen, "coverage", f.coverage,
                    "hardest_coverage", f.hardest, "repeated", f.repeated,
                    "second_eigenvalue", f.second, "cosine",
                    squares > 0 ? product / sqrt(squares) : 0, "components",
                    (json_int_t)f.parts, "unseen", (json_int_t)f.unseen),
          how);
    mem_grow(&p->point, &p->room, p->n + 1, sizeof *p->point);
    p->point[p->n++] = (struct point){batch, seen, f};
}

/* Whether to report the figures of an epoch: 1, 2, 4 ... */
static int
is_reported(int64_t epoch)
{
    return !(epoch & (epoch - 1));
}

static void
follow_plan(struct plans *p, struct method *method)
{
    const size_t last = (size_t)epochs;
    struct err err;
    struct eval_frozen *frozen =
        eval_frozen_new(&p->in.rows, &method->settings, &err);
    struct eval_batch batch;

    if (!frozen)
        die("%s: %s", method->name, err.msg);
    p->pairs = (struct eval_pairs){.samples = p->in.rows.samples};
    for (size_t epoch = 0; epoch < last; epoch++) {
        memset(p->epoch, 0, p->size * sizeof *p->epoch);
        for (size_t step = 0; step < eval_frozen_steps(frozen); step++) {
            or_die(eval_frozen_next(frozen, epoch, step, &batch, &err), &err);
            add_batch(p, batch.b, batch.ids);
        }
        if (is_reported((int64_t)epoch + 1) || epoch + 1 == last)
            report_moment(p, method->settings.batch, epoch + 1);
    }
    eval_pairs_release(&p->pairs);
    eval_frozen_free(frozen);
}

/* The row of each sample of a run, from 1; 0: not measured. */
struct row_of_sample {
    size_t n, *row;
    char digest[DIGEST_HEX]; /* of the data set; "": unknown */
};

static struct row_of_sample
list_samples(const struct instrument *in)
{
    struct row_of_sample samples = {.n = 0};

    for (size_t i = 0; i < in->rows.samples; i++)
        if (in->id[i] >= 0 && (size_t)in->id[i] >= samples.n)
            samples.n = (size_t)in->id[i] + 1;
    samples.row = mem_array(samples.n, sizeof *samples.row);
    for (size_t i = 0; i < in->rows.samples; i++)
        if (in->id[i] >= 0)
            samples.row[in->id[i]] = i + 1;
    if (in->encoder)
        digest_hex(data_digest(in->measured.set), samples.digest);
    return samples;
}

/* Reads the measured samples of a step's batch; 0 if the step is not
 * recorded. */
static size_t
read_batch(const struct row_of_sample *samples, int64_t total, int64_t *ids,
           struct run_batch_record *record)
{
    int64_t *memory;
    const char *digest;
    json_t *line;
    struct err err;
    size_t n = 0;

    if (run_batches_get(run, total, record, &line, &memory, &err)) {
        or_die(!total, &err);
        return 0;
    }
    if (*samples->digest && !json_get_text(line, "digest", &digest, &err) &&
        strcmp(digest, samples->digest))
        die("'%s' has other images than the measured data set", run);
    for (size_t i = 0; i < record->batch.b; i++) {
        const int64_t id = record->batch.ids[i];

        if ((size_t)id < samples->n && samples->row[id])
            ids[n++] = (int64_t)samples->row[id] - 1;
    }
    json_decref(line);
    free(memory);
    return n;
}

/* Measures the batches of a run. */
static void
follow_run(struct plans *p)
{
    struct row_of_sample samples = list_samples(&p->in);
    int64_t *ids = mem_array(p->in.rows.samples, sizeof *ids), newest,
            epoch = 0;
    struct run_batch_record record;
    size_t largest = 0, n;

    p->pairs = (struct eval_pairs){.samples = p->in.rows.samples};
    read_batch(&samples, 0, ids, &record);
    newest = record.total;
    for (int64_t total = 1; total <= newest; total++) {
        n = read_batch(&samples, total, ids, &record);
        if (!n)
            continue;
        if (record.batch.epoch > epoch && is_reported(record.batch.epoch))
            report_moment(p, largest, (size_t)record.batch.epoch);
        if (record.batch.epoch > epoch)
            memset(p->epoch, 0, p->size * sizeof *p->epoch);
        epoch = record.batch.epoch;
        largest = n > largest ? n : largest;
        add_batch(p, n, ids);
    }
    if (!largest)
        die("'%s' has used none of the measured samples", run);
    report_moment(p, largest, (size_t)epoch + 1);
    eval_pairs_release(&p->pairs);
    mem_free(samples.row, ids);
}

/* Writes a panel: one figure against epochs, a line for each batch size. */
static void
write_figures(FILE *out, const struct plans *p, const char *name, int column)
{
    size_t hue = 0;

    fprintf(out, "set ylabel \"%s\"\nplot ", name);
    for (size_t i = 0; i < p->n; i++) {
        if (i && p->point[i].batch == p->point[i - 1].batch)
            continue;
        fprintf(out,
                "%s$plan using ($1 == %zu ? $2 : NaN):%d with linespoints lw 2 "
                "pt 7 lc rgb \"#%s\" title \"batches of %zu\"",
                hue ? ", " : "", p->point[i].batch, column, plot_hue(hue),
                p->point[i].batch);
        hue++;
    }
    fputs("\n", out);
}

static void
draw_plans(const struct plans *p)
{
    struct plot script;
    FILE *out = plot_open(&script);

    fputs(
        "# batch, epochs, coverage, hardest, repeated, second\n$plan << END\n",
        out);
    for (size_t i = 0; i < p->n; i++) {
        const struct point *m = &p->point[i];

        fprintf(out, "%zu %zu %g %g %g %g\n", m->batch, m->epochs,
                m->figures.coverage, m->figures.hardest, m->figures.repeated,
                m->figures.second);
    }
    fputs("END\nset terminal pngcairo size 1200,840\n"
          "set multiplot layout 2,2\nset grid\nset logscale x 2\n"
          "set yrange [0:1]\nset xlabel \"epochs\"\nset key outside top center "
          "horizontal\n",
          out);
    write_figures(out, p, "share of all pairs in a batch so far", 3);
    write_figures(out, p, "share of the hardest pairs", 4);
    write_figures(out, p, "share of repeated pairs", 5);
    write_figures(out, p, "second eigenvalue", 6);
    plot(&script, common_options.plot);
}

void
run_plan(char **path)
{
    size_t batch[LIST_MOST], batches, n, d;
    struct eval_knn *knn;
    struct plans p = {.n = 0};
    struct method method;

    if (run && (opt_is_set(&method_settings.strategy) ||
                opt_is_set(&method_settings.batches) || opt_is_set(&epochs)))
        opt_misuse("--run uses the batches of that run: leave out --strategy, "
                   "-b and --epochs");
    method_read(&method, "simclr"); // any objective: only its plan is used
    method_open(&p.in, path, 0);
    batches = run ? 0 : method_batches(p.in.rows.samples, batch);
    // for each sample, those whose second view is nearest to its first
    n = p.in.rows.samples;
    d = p.in.rows.d;
    knn = eval_knn_new(n, d, p.in.rows.v + n * d, EVAL_COSINE);
    p.k = (size_t)nearest < n ? (size_t)nearest : n - 1;
    p.near = mem_array(n * p.k, sizeof *p.near);
    eval_knn_find(knn, n, p.in.rows.v, p.k, 0, p.near, NULL);
    eval_knn_free(knn);
    find_gradient(&p);
    if (run)
        follow_run(&p);
    for (size_t k = 0; k < batches; k++) {
        method.settings.batch = batch[k];
        follow_plan(&p, &method);
    }
    if (common_options.plot)
        draw_plans(&p);
    mem_free(p.near, p.exact, p.epoch, p.point);
    instrument_release(&p.in);
}
