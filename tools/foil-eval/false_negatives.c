#include "instrument.h"
#include "loss/rows.h"
#include "util/mem.h"

static long replicas = 8, warm_up = 10;

static const struct opt false_negatives_own[] = {
    {"replicas", 0, OPT_WHOLE, &replicas, 2, 1e6, "N",
     "independent epochs to measure"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before each, if objective or sampler have state by sample"},
    {0},
};
verb_opts false_negatives_opts = {method_opts, batches_opts,
                                  false_negatives_own, plot_opts,
                                  INSTRUMENT_GROUPS};

static const struct curves_panel panels[CURVES_PANELS] = {
    {"share of weight on the anchor's class", 0},
    {"share of negatives in the anchor's class", 0},
    {"share of weight / share of negatives", 0},
};

struct shares {
    struct instrument in;
    const struct method *method;
    struct loss_share *of; /* [replicas] */
    struct curves curves;
};

static void
add_shares(void *self, size_t replica, struct eval_frozen *frozen,
           const struct eval_batch *batch)
{
    struct shares *shares = self;
    struct loss_share *sum = &shares->of[replica], own;

    (void)batch;
    if (eval_frozen_share(frozen, shares->in.group, &own))
        die("%s has no weights of negatives", shares->method->name);
    sum->same_group_weight += own.same_group_weight;
    sum->all += own.all;
    sum->same_group += own.same_group;
    sum->negatives += own.negatives;
}

static void
begin_shares(void *self, char **path)
{
    const struct instrument *in = &((struct shares *)self)->in;

    if (!in->group)
        die("'%s' has no labels and no equal captions, so false negatives are "
            "unknown; add --labels",
            path[in->encoder || in->bimodal]);
}

/* For each epoch: the share of weight, of negatives, and their ratio. */
static void
measure_shares(void *self, const struct method *method)
{
    struct shares *shares = self;
    const size_t before = method_has_state(method) ? (size_t)warm_up : 0;
    const size_t n = (size_t)replicas;
    struct eval_figure mean[CURVES_PANELS];
    double *by = mem_array(n * CURVES_PANELS, sizeof *by);
    json_t *how = method_protocol(&shares->in, method);
    json_t *line = method_line("false-negatives", method);

    shares->method = method;
    shares->of = mem_array(n, sizeof *shares->of);
    method_replicate(&(struct replicas){.in = &shares->in,
                                        .method = method,
                                        .n = n,
                                        .warm_up = before,
                                        .epochs = 1,
                                        .measure = add_shares,
                                        .self = shares});
    for (size_t k = 0; k < n; k++) {
        const struct loss_share *at = &shares->of[k];

        by[k] = at->all > 0 ? at->same_group_weight / at->all : 0;
        by[n + k] = (double)at->same_group / (double)at->negatives;
        by[2 * n + k] = by[n + k] > 0 ? by[k] / by[n + k] : 1;
    }
    for (size_t k = 0; k < CURVES_PANELS; k++)
        mean[k] = eval_mean(n, by + k * n);
    json_object_update_new(how, json_pack("{s:I s:I}", "replicas",
                                          (json_int_t)replicas, "warmup",
                                          (json_int_t)before));
    json_object_update_new(
        line, json_pack("{s:o s:o s:o}", "same_class_weight",
                        figure_json(mean[0]), "same_class_share",
                        figure_json(mean[1]), "lift", figure_json(mean[2])));
    print(line, how);
    curves_add(&shares->curves, mem_text(method->name), method->settings.batch,
               mean);
    mem_free(by, shares->of);
}

void
run_false_negatives(char **path)
{
    struct shares shares = {.curves = {0}};

    method_each(&shares.in, path, 0, begin_shares, measure_shares, &shares);
    curves_draw(&shares.curves, panels);
    instrument_release(&shares.in);
}
