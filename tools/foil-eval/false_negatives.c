#include <stdlib.h>

#include "loss/share.h"
#include "method.h"
#include "util/mem.h"

static long epochs = 8, warm_up = 10;

const struct opt false_negatives_opts[] = {
    METHOD_OBJECTIVE_OPT,
    METHOD_TAU_OPT,
    METHOD_PROPOSALS_OPT,
    METHOD_STRATEGY_OPT,
    METHOD_BATCHES_OPT,
    {"epochs", 0, OPT_WHOLE, &epochs, 2, 1e6, "N", "epochs that are measured"},
    {"warmup", 0, OPT_WHOLE, &warm_up, 0, 1e6, "N",
     "epochs before, where objective or sampler remember samples"},
    INSTRUMENT_OPTS,
    {0},
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

static void
report_share(const struct instrument *in, const struct method *method,
             const double *share, const double *chance, const double *lift)
{
    const size_t n = (size_t)epochs;
    json_t *how = instrument_protocol(in);

    method_says(how, method);
    json_object_update_new(
        how, json_pack("{s:I s:I}", "epochs", (json_int_t)epochs, "warmup",
                       method_remembers(method) ? (json_int_t)warm_up : 0));
    print(json_pack("{s:s s:s s:I s:o s:o s:o}", "measure", "false-negatives",
                    "objective", method->name, "batch",
                    (json_int_t)method->how.batch, "share",
                    show_figure(eval_mean(n, share)), "shown",
                    show_figure(eval_mean(n, chance)), "lift",
                    show_figure(eval_mean(n, lift))),
          how);
}

static void
measure_method(const struct instrument *in, const struct method *method)
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
    report_share(in, method, share, chance, lift);
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
            measure_method(&in, &method);
        }
    }
    instrument_release(&in);
}
