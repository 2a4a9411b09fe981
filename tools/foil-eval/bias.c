#include <stdlib.h>
#include <string.h>

#include "eval/bias.h"
#include "instrument.h"
#include "loss/global.h"
#include "num/vec.h"
#include "util/mem.h"

enum space { EMBEDDING, PARAMETERS, BOTH };
static const char *const spaces[BOTH] = {"embedding", "parameters"};

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

/* The gradient in a space, of *size numbers, from dL/dz of n rows. */
static const float *
convert_gradient(struct meter *m, int which, size_t n, const size_t *row,
                 const float *dz, size_t *size)
{
    *size = which == EMBEDDING ? n * m->in.rows.d : m->of[which].size;
    return which == EMBEDDING ? dz
                              : measured_gradient(&m->in.measured, n, row, dz);
}

static void
find_exact(struct meter *m, double tau)
{
    const struct eval_views *rows = &m->in.rows;
    const struct loss_global set = {rows->samples, rows->views, rows->d,
                                    1 / tau,       inside,      rows->cross};
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    size_t size;

    loss_global(&set, m->in.z, m->dz, work);
    for (int k = 0; k < BOTH; k++)
        if (m->of[k].size)
            memcpy(m->of[k].exact,
                   convert_gradient(m, k, eval_views_count(rows),
                                    m->in.measured.all, m->dz, &size),
                   m->of[k].size * sizeof *m->dz);
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
    float *dz = mem_array(n * d, sizeof *dz);
    size_t size;

    for (size_t i = 0; i < n; i++)
        num_axpy(d, (float)factor, m->dz + batch->row[i] * d, dz + i * d);
    for (int k = 0; k < BOTH; k++)
        if (m->of[k].size) {
            const float *g = convert_gradient(m, k, n, batch->row, dz, &size);

            m->of[k].images[replica] += share * num_dot(size, g, g);
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
    size_t size;

    for (int k = 0; k < BOTH; k++) {
        const float *g;
        float *to;

        if (!m->of[k].size)
            continue;
        g = convert_gradient(m, k, batch->rows, batch->row, dz, &size);
        to = m->of[k].estimate + replica * m->of[k].size;
        if (k == PARAMETERS)
            num_axpy(size, (float)share, g, to);
        for (size_t i = 0; k == EMBEDDING && i < batch->rows; i++)
            num_axpy(d, (float)share, g + i * d, to + batch->row[i] * d);
        m->of[k].step[replica] += share * num_dot(size, g, g);
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
    json_object_set_new(line, "space", json_string(spaces[which]));
    for (int k = 0; k < BIAS_FIGURES; k++)
        json_object_set_new(line, names[k], figure_json(bias.of[k]));
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
    const size_t r = (size_t)replicas;
    size_t size[BOTH] = {eval_views_count(rows) * rows->d};

    if (space < 0)
        space = m->in.encoder ? BOTH : EMBEDDING;
    if (space != EMBEDDING && !m->in.encoder)
        opt_misuse(
            "--space needs CHECKPOINT DATA of one encoder: features have "
            "no parameters");
    if (before) {
        char *old[] = {mem_text(before), path[1], NULL};

        if (!m->in.encoder && !m->in.bimodal)
            opt_misuse("--before needs CHECKPOINT DATA: features have no "
                       "earlier checkpoint");
        instrument_open(&m->old, old, 0);
        if (m->old.rows.d != rows->d)
            die("'%s' has embeddings of %zu numbers, '%s' of %zu", before,
                m->old.rows.d, path[0], rows->d);
        free(old[0]);
    }
    m->dz = mem_array(*size, sizeof *m->dz);
    if (m->in.encoder)
        nn_net_params(m->in.measured.model.net, &size[PARAMETERS]);
    for (int k = 0; k < BOTH; k++) {
        struct gradients *g = &m->of[k];

        if (space != BOTH && space != k)
            continue;
        g->size = size[k];
        g->exact = mem_array(size[k], sizeof *g->exact);
        g->estimate = mem_array(r * size[k], sizeof *g->estimate);
        g->step = mem_array(2 * r, sizeof *g->step);
        g->images = g->step + r;
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
        mem_free(m.of[k].exact, m.of[k].estimate, m.of[k].step);
    }
    free(m.dz);
    if (before)
        instrument_release(&m.old);
    instrument_release(&m.in);
}
