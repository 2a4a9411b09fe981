#include <stdlib.h>

#include "curves.h"
#include "loss/share.h"
#include "method.h"
#include "util/mem.h"

static long epochs = 8, warm_up = 10;
static const char *picture;

const struct opt false_negatives_opts[] = {
    METHOD_OBJECTIVE_OPT,
    METHOD_TAU_OPT,
    METHOD_PROPOSALS_OPT,
    METHOD_STRATEGY_OPT,
    METHOD_BATCHES_OPT,
    {"epochs", 0, OPT_WHOLE, &epochs, 2, 1e6, "N", "epochs that are measured"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before, where objective or sampler remember samples"},
    {"plot", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw it as PNG, and keep the script"},
    INSTRUMENT_OPTS,
    {0},
};

static const struct curves_panel panels[CURVES_PANELS] = {
    {"weight on the own class, share", 0},
    {"own class among the negatives shown, share", 0},
    {"share of the weight over share shown", 0},
};

/* The share of a batch is added. */
static void
add_batch(struct loss_share *share, const struct instrument *in,
          const struct eval_batch *batch, const float *w)
{
    int64_t *sample = mem_array(batch->rows, sizeof *sample);
    int64_t *group = mem_array(batch->rows, sizeof *group);

    for (size_t i = 0; i < batch->rows; i++) {
        const size_t own = batch->row[i] % in->rows.samples;

        sample[i] = (int64_t)own;
        group[i] = in->group[own];
    }
    loss_share_add(share, 2 * batch->b, batch->rows, batch->columns, sample,
                   group, w);
    free(sample);
    free(group);
}

/* The share of an epoch. */
static struct loss_share
measure_epoch(const struct instrument *in, struct eval_frozen *frozen,
              const struct method *method, size_t epoch)
{
    struct loss_share share = {0};
    struct eval_batch batch;

    for (size_t step = 0; step < eval_frozen_steps(frozen); step++) {
        const float *w;

        method_next(frozen, epoch, step, &batch);
        w = eval_frozen_pull(frozen);
        if (!w)
            die("%s has no weights of negatives", method->name);
        add_batch(&share, in, &batch, w);
    }
    return share;
}

/* By epochs: share of the weight, of what was shown, and their ratio. */
static void
report_share(const struct instrument *in, const struct method *method,
             double *const by[CURVES_PANELS], struct curves *curves)
{
    const size_t n = (size_t)epochs;
    const struct eval_figure mean[CURVES_PANELS] = {
        eval_mean(n, by[0]), eval_mean(n, by[1]), eval_mean(n, by[2])};
    json_t *how = instrument_protocol(in);

    method_says(how, method);
    json_object_update_new(
        how, json_pack("{s:I s:I}", "epochs", (json_int_t)epochs, "warmup",
                       method_remembers(method) ? (json_int_t)warm_up : 0));
    print(json_pack("{s:s s:s s:I s:o s:o s:o}", "measure", "false-negatives",
                    "objective", method->name, "batch",
                    (json_int_t)method->how.batch, "share",
                    show_figure(mean[0]), "shown", show_figure(mean[1]), "lift",
                    show_figure(mean[2])),
          how);
    curves_add(curves, mem_text(method->name), method->how.batch, mean);
}

static void
measure_method(const struct instrument *in, const struct method *method,
               struct curves *curves)
{
    const size_t before = method_remembers(method) ? (size_t)warm_up : 0;
    const size_t n = (size_t)epochs;
    struct eval_frozen *frozen = method_new(in, method);
    double *share = mem_array(n, sizeof *share);
    double *chance = mem_array(n, sizeof *chance);
    double *lift = mem_array(n, sizeof *lift);
    struct progress progress;

    progress_start(&progress, "epochs", 0, (double)(before + n));
    for (size_t epoch = 0; epoch < before + n; epoch++) {
        const struct loss_share at = measure_epoch(in, frozen, method, epoch);
        const size_t k = epoch - before;

        progress_show(&progress, (double)epoch + 1, "");
        if (epoch < before)
            continue;
        share[k] = at.all > 0 ? at.own / at.all : 0;
        chance[k] = (double)at.kin / (double)at.negatives;
        lift[k] = chance[k] > 0 ? share[k] / chance[k] : 1;
    }
    progress_clear(&progress);
    report_share(in, method, (double *const[]){share, chance, lift}, curves);
    free(lift);
    free(chance);
    free(share);
    eval_frozen_free(frozen);
}

void
run_false_negatives(char **path)
{
    size_t batch[METHOD_MOST], batches;
    const char *objective;
    struct curves curves = {0};
    struct instrument in;
    struct method method;

    for (size_t i = 0; (objective = method_objective(i)); i++)
        method_read(&method, objective); // refused before there is work
    method_open(&in, path, 0);
    if (!in.group)
        die("'%s' has no labels, and no captions that are equal: nothing says "
            "which negatives are false; --labels does",
            path[in.encoder || in.towers.checkpoint]);
    batches = method_batches(in.rows.samples, batch);
    for (size_t i = 0; (objective = method_objective(i)); i++) {
        method_read(&method, objective);
        for (size_t k = 0; k < batches; k++) {
            method.how.batch = batch[k];
            measure_method(&in, &method, &curves);
        }
    }
    curves_draw(&curves, panels, picture);
    instrument_release(&in);
}
