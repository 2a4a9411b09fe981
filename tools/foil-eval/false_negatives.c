#include <stdlib.h>

#include "loss/share.h"
#include "method.h"
#include "util/mem.h"

static long epochs = 8, warm_up = 10;

static const struct opt false_negatives_own[] = {
    {"epochs", 0, OPT_WHOLE, &epochs, 2, 1e6, "N", "epochs to measure"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before, if objective or sampler have state by sample"},
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

/* The shares in an epoch. */
static struct loss_share
measure_epoch(const struct instrument *in, struct eval_frozen *frozen,
              const struct method *method, size_t epoch)
{
    struct loss_share share = {0};
    struct eval_batch batch;

    for (size_t step = 0; step < eval_frozen_steps(frozen); step++) {
        int64_t *sample, *group;
        const float *w;

        method_next(frozen, epoch, step, &batch);
        w = eval_frozen_weights(frozen);
        if (!w)
            die("%s has no weights of negatives", method->name);
        sample = mem_array(batch.rows, sizeof *sample);
        group = mem_array(batch.rows, sizeof *group);
        for (size_t i = 0; i < batch.rows; i++) {
            sample[i] = (int64_t)(batch.row[i] % in->rows.samples);
            group[i] = in->group[sample[i]];
        }
        loss_share_add(&share, 2 * batch.b, batch.rows, batch.columns, sample,
                       group, w);
        free(sample);
        free(group);
    }
    return share;
}

struct shares {
    struct instrument in;
    struct curves curves;
};

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
    const size_t n = (size_t)epochs;
    struct eval_frozen *frozen = method_new(&shares->in, method);
    struct eval_figure mean[CURVES_PANELS];
    double *by = mem_array(n * CURVES_PANELS, sizeof *by);
    json_t *how = instrument_protocol(&shares->in);
    struct progress progress;

    progress_start(&progress, "epochs", 0, (double)(before + n));
    for (size_t epoch = 0; epoch < before + n; epoch++) {
        const struct loss_share at =
            measure_epoch(&shares->in, frozen, method, epoch);
        double *to = by + epoch - before;

        progress_show(&progress, (double)epoch + 1, "");
        if (epoch < before)
            continue;
        to[0] = at.all > 0 ? at.same_group_weight / at.all : 0;
        to[n] = (double)at.same_group / (double)at.negatives;
        to[2 * n] = to[n] > 0 ? to[0] / to[n] : 1;
    }
    progress_clear(&progress);
    for (size_t k = 0; k < CURVES_PANELS; k++)
        mean[k] = eval_mean(n, by + k * n);
    method_describe(how, method);
    json_object_update_new(how,
                           json_pack("{s:I s:I}", "epochs", (json_int_t)epochs,
                                     "warmup", (json_int_t)before));
    print(json_pack("{s:s s:s s:I s:o s:o s:o}", "measure", "false-negatives",
                    "objective", method->name, "batch",
                    (json_int_t)method->settings.batch, "same_class_weight",
                    show_figure(mean[0]), "same_class_share",
                    show_figure(mean[1]), "lift", show_figure(mean[2])),
          how);
    curves_add(&shares->curves, mem_text(method->name), method->settings.batch,
               mean);
    free(by);
    eval_frozen_free(frozen);
}

void
run_false_negatives(char **path)
{
    struct shares shares = {.curves = {0}};

    method_each(&shares.in, path, 0, begin_shares, measure_shares, &shares);
    curves_draw(&shares.curves, panels);
    instrument_release(&shares.in);
}
