#include <string.h>

#include "eval.h"
#include "eval/probe.h"
#include "util/opt.h"

/* How the logistic probe was run. */
static json_t *
logistic_protocol(const struct options *options, const struct eval_probe *probe)
{
    json_t *how =
        json_pack("{s:s s:s s:f s:f s:I s:I}", "protocol", options->protocol,
                  "features", "standardised by mean and deviation of train",
                  "l2", probe->l2, "tolerance", options->tolerance,
                  "iterations", (json_int_t)probe->iterations,
                  "most_iterations", (json_int_t)options->iterations);
    json_t *grid;

    if (options->l2 > 0)
        return how;
    grid = json_array();
    for (size_t i = 0; i < EVAL_PROBE_GRID; i++)
        json_array_append_new(grid, json_real(eval_probe_grid[i]));
    json_object_update_new(how,
                           json_pack("{s:o s:f s:f}", "l2_grid", grid,
                                     "held_out_share", options->held_out,
                                     "held_out_accuracy", probe->held_out));
    return how;
}

static json_t *
sgd_protocol(const struct eval_sgd *sgd, const struct eval_probe *probe)
{
    return json_pack("{s:s s:s s:f s:f s:I s:I s:I s:b s:b}", "protocol",
                     sgd->name, "features", "as they are", "rate", sgd->rate,
                     "momentum", 0.9, "batch", (json_int_t)sgd->batch, "epochs",
                     (json_int_t)sgd->epochs, "epoch", (json_int_t)probe->epoch,
                     "shuffled", sgd->shuffle, "best_epoch_on_test", sgd->best);
}

static struct eval_rows
rows_of(const struct data_features *f)
{
    return (struct eval_rows){f->n, f->d, f->x, f->labels};
}

void
run_probe(const struct options *options, char **path)
{
    struct pair pair;

    pair_load(&pair, options, path);

    const struct eval_rows fit = rows_of(&pair.train);
    const struct eval_rows judge = rows_of(pair.test);
    const struct eval_probe_spec spec = {
        pair.classes,
        options->l2,
        options->held_out,
        (uint64_t)options->seed,
        (size_t)options->iterations,
        options->tolerance,
    };
    const struct eval_sgd *sgd = NULL;
    struct eval_probe probe;
    struct err err;
    json_t *how;

    if (fit.n < 2)
        die("'%s' has one row, and a probe needs two", path[0]);
    if (!strcmp(options->protocol, "lbfgs"))
        eval_probe_logistic(&spec, &fit, &judge, &probe);
    else if (!(sgd = eval_sgd_find(options->protocol, &err)) ||
             eval_probe_sgd(sgd, pair.classes, spec.seed, &fit, &judge, &probe,
                            &err))
        die("%s", err.msg);
    how = sgd ? sgd_protocol(sgd, &probe) : logistic_protocol(options, &probe);
    json_object_update_new(how, json_pack("{s:I s:I}", "seed",
                                          (json_int_t)options->seed, "threads",
                                          (json_int_t)options->threads));
    json_object_update_new(how, pair_origin(&pair, path));
    print(json_pack("{s:s s:f s:f s:f}", "measure", "probe", "accuracy",
                    probe.accuracy, "train_accuracy", probe.train, "loss",
                    probe.loss),
          how);
    pair_release(&pair);
}
