#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/bias.h"
#include "loss/global.h"
#include "method.h"
#include "num/vec.h"
#include "util/mem.h"

enum space { EMBEDDING, PARAMETERS, BOTH };

static enum space space;
static long replicas = 8, warm_up = 10;
static int inside;

static const struct opt bias_own[] = {
    {"space", 0, OPT_CHOICE, &space, 0, 0, "embedding|parameters|both",
     "gradient of embeddings, or of the encoder's parameters"},
    {"inside", 0, OPT_FLAG, &inside, 0, 0, NULL,
     "the exact loss includes the positive in its denominator"},
    {"replicas", 0, OPT_WHOLE, &replicas, EVAL_BIAS_LEAST, EVAL_BIAS_MOST, "N",
     "independent epochs to measure"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before each, if objective or sampler have state by sample"},
    {0},
};
verb_opts bias_opts = {method_opts, batches_opts, bias_own, plot_opts,
                       INSTRUMENT_GROUPS};

static const struct curves_panel panels[CURVES_PANELS] = {
    {"bias squared, in |g|^2 (10^{-6}: none)", 1},
    {"variance of a step, in |g|^2", 1},
    {"cosine", 0},
};

/* Gradients in one space: the exact one and those of the replicas. */
struct gradients {
    const char *space;
    size_t size;
    float *exact, *estimate; /* [size], [replicas,size] */
    double *step;            /* [replicas] mean square of a step's */
};

struct meter {
    struct instrument in;
    struct gradients of[2]; /* by space; size 0: not measured */
    double tau;             /* of the exact gradients; 0: none yet */
    struct progress progress;
    struct curves curves;
};

static int
wants_space(enum space which)
{
    return space == BOTH || space == which;
}

static void
make_gradients(struct meter *m, enum space which, const char *name, size_t size)
{
    struct gradients *g = &m->of[which];
    const size_t r = (size_t)replicas;

    *g = (struct gradients){.space = name, .size = size};
    g->exact = mem_array(size, sizeof *g->exact);
    g->estimate = mem_array(r * size, sizeof *g->estimate);
    g->step = mem_array(r, sizeof *g->step);
}

static void
find_exact(struct meter *m, double tau)
{
    const struct eval_views *rows = &m->in.rows;
    const struct loss_global set = {rows->samples, rows->views, rows->d,
                                    1 / tau,       inside,      rows->cross};
    const size_t n = eval_views_count(rows);
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    float *dz = mem_array(n * rows->d, sizeof *dz);
    struct gradients *g = m->of;

    loss_global(&set, m->in.z, dz, work);
    if (g[EMBEDDING].size)
        memcpy(g[EMBEDDING].exact, dz, n * rows->d * sizeof *dz);
    if (g[PARAMETERS].size)
        memcpy(g[PARAMETERS].exact,
               measured_gradient(&m->in.measured, n, m->in.measured.all, dz),
               g[PARAMETERS].size * sizeof *dz);
    m->tau = tau;
    free(dz);
    free(work);
}

/* Adds a step's gradient to the mean of its epoch. */
static void
take_step(struct meter *m, size_t replica, double share,
          const struct eval_batch *batch, const float *dz)
{
    const size_t d = m->in.rows.d;
    struct gradients *g = m->of;

    if (g[EMBEDDING].size) {
        float *to = g[EMBEDDING].estimate + replica * g[EMBEDDING].size;

        for (size_t i = 0; i < batch->rows; i++)
            num_axpy(d, (float)share, dz + i * d, to + batch->row[i] * d);
        g[EMBEDDING].step[replica] += share * num_dot(batch->rows * d, dz, dz);
    }
    if (g[PARAMETERS].size) {
        const size_t size = g[PARAMETERS].size;
        const float *dw =
            measured_gradient(&m->in.measured, batch->rows, batch->row, dz);

        num_axpy(size, (float)share, dw,
                 g[PARAMETERS].estimate + replica * size);
        g[PARAMETERS].step[replica] += share * num_dot(size, dw, dw);
    }
}

/* Runs one trainer: warm-up epochs if it has state, and one measured epoch. */
static void
run_replica(struct meter *m, const struct method *of, size_t replica)
{
    struct method method = *of;
    struct eval_frozen *frozen;
    struct eval_batch batch;
    size_t steps, before = method_has_state(of) ? (size_t)warm_up : 0;

    method.settings.seed += replica;
    frozen = method_new(&m->in, &method);
    steps = eval_frozen_steps(frozen);
    for (size_t epoch = 0; epoch <= before; epoch++)
        for (size_t step = 0; step < steps; step++) {
            const float *dz;

            method_next(frozen, epoch, step, &batch);
            dz = eval_frozen_gradient(frozen);
            if (epoch == before)
                take_step(m, replica, 1 / (double)steps, &batch, dz);
            progress_show(&m->progress,
                          (double)replica +
                              ((double)epoch * (double)steps + (double)step) /
                                  (double)((before + 1) * steps),
                          "");
        }
    eval_frozen_free(frozen);
}

static void
report_bias(struct meter *m, const struct method *method, enum space which)
{
    struct gradients *g = &m->of[which];
    struct eval_bias bias;
    json_t *how = instrument_protocol(&m->in);

    if (!(num_dot(g->size, g->exact, g->exact) > 0))
        die("the exact gradient is zero: there is nothing to compare with");
    bias = eval_bias((size_t)replicas, g->size, g->estimate, g->step, g->exact);
    method_describe(how, method);
    json_object_update_new(
        how,
        json_pack("{s:I s:I s:b}", "replicas", (json_int_t)replicas, "warmup",
                  method_has_state(method) ? (json_int_t)warm_up : 0,
                  "positive_inside", inside));
    print(json_pack("{s:s s:s s:I s:s s:o s:o s:o s:o s:f}", "measure", "bias",
                    "objective", method->name, "batch",
                    (json_int_t)method->settings.batch, "space", g->space,
                    "bias", show_figure(bias.bias), "variance",
                    show_figure(bias.variance), "cosine",
                    show_figure(bias.cosine), "scale", show_figure(bias.scale),
                    "square_gradient", bias.square),
          how);
    curves_add(&m->curves,
               mem_format("%s%s", method->name,
                          which == PARAMETERS ? ", parameters" : ""),
               method->settings.batch,
               (struct eval_figure[]){bias.bias, bias.variance, bias.cosine});
}

static void
measure_batch(void *self, const struct method *method)
{
    struct meter *m = self;
    const double tau = method->settings.settings.value[LOSS_TAU];

    if (tau != m->tau)
        find_exact(m, tau);
    for (int k = 0; k < BOTH; k++) {
        struct gradients *g = &m->of[k];

        if (!g->size)
            continue;
        memset(g->estimate, 0,
               (size_t)replicas * g->size * sizeof *g->estimate);
        memset(g->step, 0, (size_t)replicas * sizeof *g->step);
    }
    progress_start(&m->progress, "epochs", 0, (double)replicas);
    for (size_t r = 0; r < (size_t)replicas; r++)
        run_replica(m, method, r);
    progress_clear(&m->progress);
    for (int k = 0; k < BOTH; k++)
        if (m->of[k].size)
            report_bias(m, method, (enum space)k);
}

static void
begin_spaces(void *self, char **path)
{
    struct meter *m = self;
    const struct eval_views *rows = &m->in.rows;
    size_t count;

    (void)path;
    if (wants_space(PARAMETERS) && !m->in.encoder)
        opt_misuse(
            "--space wants CHECKPOINT DATA of one encoder: features have "
            "no parameters");
    if (wants_space(EMBEDDING))
        make_gradients(m, EMBEDDING, "embedding",
                       eval_views_count(rows) * rows->d);
    if (wants_space(PARAMETERS)) {
        nn_net_params(m->in.measured.model.net, &count);
        make_gradients(m, PARAMETERS, "parameters", count);
    }
}

void
run_bias(char **path)
{
    struct meter m = {.tau = 0};

    method_each(&m.in, path, wants_space(PARAMETERS), begin_spaces,
                measure_batch, &m);
    curves_draw(&m.curves, panels);
    for (int k = 0; k < BOTH; k++) {
        free(m.of[k].exact);
        free(m.of[k].estimate);
        free(m.of[k].step);
    }
    instrument_release(&m.in);
}
