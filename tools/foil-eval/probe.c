#include "eval/probe.h"
#include "confusion.h"
#include "eval.h"
#include "util/opt.h"
#include "util/progress.h"

static enum { LBFGS } protocol; // the others are those of eval_sgd_find()
static double l2, held_out = 0.1, tolerance = 1e-4;
static long iterations = 1000, seed;
static const char *picture;

const struct opt probe_opts[] = {
    {"protocol", 0, OPT_CHOICE, &protocol, 0, 0,
     "lbfgs|emc2|isogclr|isogclr-paper|sogclr",
     "how the classifier is trained"},
    {"l2", 0, OPT_REAL, &l2, 0, 1e6, "X",
     "lbfgs: penalty; 0: chosen on held-out rows"},
    {"held-out", 0, OPT_REAL, &held_out, 0.001, 0.9, "SHARE",
     "lbfgs: share of the rows of TRAIN that are held out"},
    {"iterations", 0, OPT_WHOLE, &iterations, 1, 1e6, "N",
     "lbfgs: most iterations of a fit"},
    {"tolerance", 0, OPT_REAL, &tolerance, 1e-9, 1, "X",
     "lbfgs: a fit ends when no derivative is larger"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N",
     "seed of held-out rows and of SGD"},
    {"confusion", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "which class is taken for which, as PNG"},
    LABELS_OPTS,
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* How the logistic probe was run. */
static json_t *
logistic_protocol(const struct eval_probe *probe)
{
    json_t *how = json_pack("{s:s s:s s:f s:f s:I s:I}", "protocol",
                            opt_choice(&protocol), "features",
                            "standardised by mean and deviation of train", "l2",
                            probe->l2, "tolerance", tolerance, "iterations",
                            (json_int_t)probe->iterations, "most_iterations",
                            (json_int_t)iterations);
    json_t *grid;

    if (l2 > 0)
        return how;
    grid = json_array();
    for (size_t i = 0; i < EVAL_PROBE_GRID; i++)
        json_array_append_new(grid, json_real(eval_probe_grid[i]));
    json_object_update_new(
        how, json_pack("{s:o s:f s:f}", "l2_grid", grid, "held_out_share",
                       held_out, "held_out_accuracy", probe->held_out));
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

/* Passes over TRAIN, of which only SGD knows how many there will be. */
struct passes {
    struct progress progress;
    size_t done;
};

static void
pass_step(void *self)
{
    struct passes *passes = self;

    progress_show(&passes->progress, (double)++passes->done, "");
}

/* Trains the classifier and judges it; returns how.
 *   count  [classes,classes], or NULL */
static json_t *
train_probe(const struct pair *pair, size_t *count, struct eval_probe *probe)
{
    const struct eval_rows fit = rows_of(&pair->train);
    const struct eval_rows judge = rows_of(pair->test);
    struct passes passes = {.done = 0};
    const struct eval_watch watch = {pass_step, &passes};
    const struct eval_probe_spec spec = {
        .classes = pair->classes,
        .l2 = l2,
        .share = held_out,
        .seed = (uint64_t)seed,
        .iterations = (size_t)iterations,
        .tolerance = tolerance,
        .count = count,
        .watch = &watch,
    };
    const struct eval_sgd *sgd = NULL;
    struct err err;

    if (protocol != LBFGS &&
        !(sgd = eval_sgd_find(opt_choice(&protocol), &err)))
        die("%s", err.msg);
    progress_start(&passes.progress, "passes over the features", 0,
                   sgd ? (double)sgd->epochs : 0);
    if (!sgd)
        eval_probe_logistic(&spec, &fit, &judge, probe);
    else if (eval_probe_sgd(sgd, &spec, &fit, &judge, probe, &err)) {
        progress_clear(&passes.progress);
        die("%s", err.msg);
    }
    progress_clear(&passes.progress);
    return sgd ? sgd_protocol(sgd, probe) : logistic_protocol(probe);
}

void
run_probe(char **path)
{
    struct confusion confusion = {0};
    struct eval_probe probe;
    struct pair pair;
    json_t *how;

    pair_load(&pair, given.labels, path);
    if (pair.train.n < 2)
        die("'%s' has one row, and a probe needs two", path[0]);
    if (picture)
        confusion_init(&confusion, pair.classes);
    how = train_probe(&pair, confusion.count, &probe);
    json_object_update_new(how,
                           json_pack("{s:I s:I}", "seed", (json_int_t)seed,
                                     "threads", (json_int_t)given.threads));
    json_object_update_new(how, pair_origin(&pair, path));
    if (picture) {
        confusion_plot(&confusion, &pair.train.classes, picture);
        json_object_set_new(how, "by_class",
                            confusion_show(&confusion, &pair.train.classes));
    }
    print(json_pack("{s:s s:f s:f s:f}", "measure", "probe", "accuracy",
                    probe.accuracy, "train_accuracy", probe.train, "loss",
                    probe.loss),
          how);
    confusion_release(&confusion);
    pair_release(&pair);
}
