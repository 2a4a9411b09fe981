#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/bias.h"
#include "instrument.h"
#include "loss/global.h"
#include "num/vec.h"
#include "util/mem.h"

enum space { EMBEDDING, PARAMETERS, BOTH };

static int space = -1; // BOTH with an encoder, else EMBEDDING
static long replicas = 8, warm_up = 10;
static int inside;
static const char *before;

static const struct opt bias_own[] = {
    {"space", 0, OPT_CHOICE, &space, 0, 0, "embedding|parameters|both",
     "gradient of embeddings, or of the encoder's parameters [both; of files "
     "of features: embedding]"},
    {"inside", 0, OPT_FLAG, &inside, 0, 0, NULL,
     "the exact loss includes the positive in its denominator"},
    {"replicas", 0, OPT_WHOLE, &replicas, EVAL_BIAS_LEAST, EVAL_BIAS_MOST, "N",
     "independent epochs to measure"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before each, if objective or sampler have state by sample"},
    {"before", 0, OPT_TEXT, &before, 0, 0, "CHECKPOINT",
     "encoder of these epochs: objective and sampler remember its rows"},
    {0},
};
verb_opts bias_opts = {method_opts, batches_opts, bias_own, plot_opts,
                       INSTRUMENT_GROUPS};

static const struct curves_panel panels[CURVES_PANELS] = {
    {"direction: 1 - cosine^2 (10^{-6}: none)", 1},
    {"variance of a step, in |g|^2", 1},
    {"length along g", 0},
};

/* Gradients in one space: the exact one and those of the replicas. */
struct gradients {
    const char *space;
    size_t size;
    float *exact, *estimate; /* [size], [replicas,size] */
    double *step, *images;   /* [replicas] mean square of a step's gradient, and
                                of the exact gradient of its images */
};

struct meter {
    struct instrument in;
    struct gradients of[2]; /* by space; size 0: not measured */
    double tau;             /* of the exact gradients; 0: none yet */
    float *dz;              /* [n,d] the exact gradient of the embeddings */
    struct instrument old;  /* rows of --before */
    struct curves curves;
};

static int
wants_space(int which)
{
    return space == BOTH || space == which;
}

static void
make_gradients(struct meter *m, int which, const char *name, size_t size)
{
    struct gradients *g = &m->of[which];
    const size_t r = (size_t)replicas;

    *g = (struct gradients){.space = name, .size = size};
    g->exact = mem_array(size, sizeof *g->exact);
    g->estimate = mem_array(r * size, sizeof *g->estimate);
    g->step = mem_array(2 * r, sizeof *g->step);
    g->images = g->step + r;
}

static void
find_exact(struct meter *m, double tau)
{
    const struct eval_views *rows = &m->in.rows;
    const struct loss_global set = {rows->samples, rows->views, rows->d,
                                    1 / tau,       inside,      rows->cross};
    const size_t n = eval_views_count(rows);
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    struct gradients *g = m->of;

    loss_global(&set, m->in.z, m->dz, work);
    if (g[EMBEDDING].size)
        memcpy(g[EMBEDDING].exact, m->dz, n * rows->d * sizeof *m->dz);
    if (g[PARAMETERS].size)
        memcpy(g[PARAMETERS].exact,
               measured_gradient(&m->in.measured, n, m->in.measured.all, m->dz),
               g[PARAMETERS].size * sizeof *m->dz);
    m->tau = tau;
    free(work);
}

/* Adds the square of the exact gradient of the images of a batch, as an
 * estimate of the whole. */
static void
add_images(struct meter *m, size_t replica, double share,
           const struct eval_batch *batch)
{
    const size_t d = m->in.rows.d, n = 2 * batch->b;
    const double factor = (double)eval_views_count(&m->in.rows) / (double)n;
    struct gradients *g = m->of;
    float *dz = mem_array(n * d, sizeof *dz);

    for (size_t i = 0; i < n; i++)
        num_axpy(d, (float)factor, m->dz + batch->row[i] * d, dz + i * d);
    if (g[EMBEDDING].size)
        g[EMBEDDING].images[replica] += share * num_dot(n * d, dz, dz);
    if (g[PARAMETERS].size) {
        const float *dw = measured_gradient(&m->in.measured, n, batch->row, dz);

        g[PARAMETERS].images[replica] +=
            share * num_dot(g[PARAMETERS].size, dw, dw);
    }
    free(dz);
}

/* Adds a step's gradient to the mean of its epoch. */
static void
add_gradient(void *self, size_t replica, struct eval_frozen *frozen,
             const struct eval_batch *batch)
{
    struct meter *m = self;
    const size_t d = m->in.rows.d;
    const double share = 1 / (double)eval_frozen_steps(frozen);
    const float *dz = eval_frozen_gradient(frozen);
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
    add_images(m, replica, share, batch);
}

/* Names of the figures in JSON. */
static const char *const names[BIAS_FIGURES] = {
    [BIAS_DIRECTION] = "direction",
    [BIAS_COSINE] = "cosine",
    [BIAS_SCALE] = "scale",
    [BIAS_SQUARE] = "bias",
    [BIAS_VARIANCE] = "variance",
    [BIAS_IMAGES] = "variance_images",
    [BIAS_NEGATIVES] = "variance_negatives",
    [BIAS_NOISE] = "noise_scale"};

static void
report_bias(struct meter *m, const struct method *method, int which)
{
    const struct gradients *g = &m->of[which];
    const struct eval_bias_data data = {
        (size_t)replicas, g->size, method->settings.batch, g->estimate, g->step,
        g->images,        g->exact};
    struct eval_bias bias;
    json_t *line, *how = method_protocol(&m->in, method);

    if (!(num_dot(g->size, g->exact, g->exact) > 0))
        die("the exact gradient is zero: there is nothing to compare with");
    bias = eval_bias(&data);
    line = method_line("bias", method);
    json_object_set_new(line, "space", json_string(g->space));
    for (int k = 0; k < BIAS_FIGURES; k++)
        json_object_set_new(line, names[k], show_figure(bias.of[k]));
    json_object_update_new(
        line, json_pack("{s:f s:f}", "declared_scale",
                        loss_objective_scale(method->settings.objective,
                                             &method->settings.settings),
                        "square_gradient", bias.square));
    json_object_update_new(
        how,
        json_pack("{s:I s:I s:b s:s*}", "replicas", (json_int_t)replicas,
                  "warmup", method_has_state(method) ? (json_int_t)warm_up : 0,
                  "positive_inside", inside, "before", before));
    print(line, how);
    curves_add(&m->curves,
               mem_format("%s%s", method->name,
                          which == PARAMETERS ? ", parameters" : ""),
               data.batch,
               (struct eval_figure[]){bias.of[BIAS_DIRECTION],
                                      bias.of[BIAS_VARIANCE],
                                      bias.of[BIAS_SCALE]});
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
        memset(g->step, 0, 2 * (size_t)replicas * sizeof *g->step);
    }
    method_replicate(&(struct replicas){
        .in = &m->in,
        .before = before ? &m->old : NULL,
        .method = method,
        .n = (size_t)replicas,
        .warm_up = method_has_state(method) ? (size_t)warm_up : 0,
        .epochs = 1,
        .measure = add_gradient,
        .self = m});
    for (int k = 0; k < BOTH; k++)
        if (m->of[k].size)
            report_bias(m, method, k);
}

static void
begin_spaces(void *self, char **path)
{
    struct meter *m = self;
    const struct eval_views *rows = &m->in.rows;
    const size_t size = eval_views_count(rows) * rows->d;
    size_t count;

    if (space < 0)
        space = m->in.encoder ? BOTH : EMBEDDING;
    if (wants_space(PARAMETERS) && !m->in.encoder)
        opt_misuse(
            "--space wants CHECKPOINT DATA of one encoder: features have "
            "no parameters");
    if (before) {
        char *old[] = {mem_text(before), path[1], NULL};

        if (!m->in.encoder && !m->in.bimodal)
            opt_misuse("--before wants CHECKPOINT DATA: features have no "
                       "earlier checkpoint");
        instrument_open(&m->old, old, 0);
        if (m->old.rows.d != rows->d)
            die("'%s' has embeddings of %zu numbers, '%s' of %zu", before,
                m->old.rows.d, path[0], rows->d);
        free(old[0]);
    }
    m->dz = mem_array(size, sizeof *m->dz);
    if (wants_space(EMBEDDING))
        make_gradients(m, EMBEDDING, "embedding", size);
    if (wants_space(PARAMETERS)) {
        nn_net_params(m->in.measured.model.net, &count);
        make_gradients(m, PARAMETERS, "parameters", count);
    }
}

void
run_bias(char **path)
{
    struct meter m = {.tau = 0};

    method_each(&m.in, path, space != EMBEDDING, begin_spaces, measure_batch,
                &m);
    curves_draw(&m.curves, panels);
    for (int k = 0; k < BOTH; k++) {
        free(m.of[k].exact);
        free(m.of[k].estimate);
        free(m.of[k].step);
    }
    free(m.dz);
    if (before)
        instrument_release(&m.old);
    instrument_release(&m.in);
}
