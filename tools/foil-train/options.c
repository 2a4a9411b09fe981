#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"
#include "wire/keys.h"

static struct train_options o = {
    .objective = "simclr",
    .arch = "resnet18",
    .stem = "small",
    .norm = "batch",
    .basis = "",
    .rows = "",
    .mean = "0.485,0.456,0.406",
    .deviation = "0.229,0.224,0.225",
    .precision = "f32",
    .conv = "auto",
    .optim = "sgd",
    .lars = "a",
    .schedule = "cosine",
    .tau_schedule = "constant",
    .gamma_schedule = "constant",
    .eta_schedule = "constant",
    .tau_end = NAN,
    .eta_end = 1e-4,
    .compat = "paper",
    .sampler = "service",
    .loss = {.tau = NAN,
             .gamma = NAN,
             .rho = NAN,
             .eta = NAN,
             .beta_u = NAN,
             .tau_min = NAN,
             .tau_max = NAN,
             .tau_inter = NAN,
             .beta = NAN,
             .tau_plus = NAN,
             .mu = NAN,
             .lambda = NAN,
             .invariance = NAN,
             .variance = NAN,
             .covariance = NAN},
    .accumulate = 1,
    .lr = 0.1,
    .momentum = 0.9,
    .weight_decay = 1e-4,
    .nonfinite = "stop",
    .policy = "wait",
    .every = 500,
    .keep = 2,
    .credit = 8,
    .deadline = 600,
};

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &o.run, 0, 0, "DIR", "run directory"},
    {"batches", 0, OPT_TEXT, &o.batches, 0, 0, "ENDPOINT",
     "where augmenters connect, else in DIR"},
    {"negatives", 0, OPT_TEXT, &o.negatives, 0, 0, "ENDPOINT",
     "the negatives service, else in DIR"},
    {"events", 0, OPT_TEXT, &o.events, 0, 0, "ENDPOINT",
     "where events are published, else in DIR"},
    {"features", 0, OPT_TEXT, &o.features, 0, 0, "ENDPOINT",
     "where selectors ask for features [ipc://DIR/features]"},
    WIRE_KEYS_OPT(&o.keys),
    WIRE_ALLOW_OPT(&o.allow),
    {"objective", 0, OPT_TEXT, &o.objective, 0, 0, "NAME",
     "what is trained, see foil-train(1)"},
    {"compat", 0, OPT_CHOICE, &o.compat, 0, 0, "paper|reference",
     "where an objective's paper and its code differ"},
    {"tau", 0, OPT_REAL, &o.loss.tau, 1e-4, 1e4, "X",
     "temperature; this and the next: the objective's own"},
    {"gamma", 0, OPT_REAL, &o.loss.gamma, 0, 1, "X",
     "weight of the new value in a running mean"},
    {"rho", 0, OPT_REAL, &o.loss.rho, 0, 100, "X",
     "divergence from uniform that temperatures keep"},
    {"eta", 0, OPT_REAL, &o.loss.eta, 0, 100, "X", "rate of temperatures"},
    {"beta-u", 0, OPT_REAL, &o.loss.beta_u, 0, 1, "X",
     "weight of the new value in their momentum"},
    {"tau-min", 0, OPT_REAL, &o.loss.tau_min, 1e-4, 1e4, "X",
     "least temperature"},
    {"tau-max", 0, OPT_REAL, &o.loss.tau_max, 1e-4, 1e4, "X",
     "largest temperature"},
    {"tau-inter", 0, OPT_REAL, &o.loss.tau_inter, 1e-4, 1e4, "X",
     "second temperature of simco"},
    {"beta", 0, OPT_REAL, &o.loss.beta, 0, 100, "X",
     "how much harder negatives count"},
    {"tau-plus", 0, OPT_REAL, &o.loss.tau_plus, 0, 0.999, "X",
     "share of positives among negatives"},
    {"mu", 0, OPT_REAL, &o.loss.mu, 1e-6, 1e6, "X",
     "largest squared length of a row"},
    {"lambda", 0, OPT_REAL, &o.loss.lambda, 0, 1e6, "X",
     "weight of correlations between dimensions"},
    {"invariance", 0, OPT_REAL, &o.loss.invariance, 0, 1e6, "X",
     "weight of the views' distance"},
    {"variance", 0, OPT_REAL, &o.loss.variance, 0, 1e6, "X",
     "weight of deviations below 1"},
    {"covariance", 0, OPT_REAL, &o.loss.covariance, 0, 1e6, "X",
     "weight of covariances"},
    {"arch", 0, OPT_CHOICE, &o.arch, 0, 0,
     "resnet18|resnet34|resnet50|resnet8|resnet20|mlp|linear|table", "encoder"},
    {"basis", 0, OPT_TEXT, &o.basis, 0, 0, "FILE",
     "fixed basis that linear sees pixels in, .npy"},
    {"rows", 0, OPT_TEXT, &o.rows, 0, 0, "FILE",
     "what a table begins with, .npy"},
    {"stem", 0, OPT_CHOICE, &o.stem, 0, 0, "small|imagenet",
     "first layer of a resnet"},
    {"norm", 0, OPT_CHOICE, &o.norm, 0, 0, "batch|group|none", "normalisation"},
    {"width", 0, OPT_WHOLE, &o.width, 0, 4096, "N",
     "channels of the first stage, 0: the arch's own"},
    {"hidden", 0, OPT_WHOLE, &o.hidden, 0, 65536, "N",
     "width of an mlp, of linear, of a table, 0: 512"},
    {"head", 0, OPT_TEXT, &o.head, 0, 0, "SPEC",
     "projection head, as 512-128, 512-128-bn or none, else the objective's"},
    {"mean", 0, OPT_TEXT, &o.mean, 0, 0, "R,G,B", "of pixels / 255"},
    {"deviation", 0, OPT_TEXT, &o.deviation, 0, 0, "R,G,B", "of pixels / 255"},
    {"precision", 0, OPT_CHOICE, &o.precision, 0, 0, "f32|bf16",
     "of activations"},
    {"conv", 0, OPT_CHOICE, &o.conv, 0, 0, "auto|direct",
     "auto: Winograd where it is faster"},
    {"micro-batch", 0, OPT_WHOLE, &o.micro, 0, 1 << 20, "ROWS",
     "views that the encoder has in memory, 0: all"},
    {"accumulate", 0, OPT_WHOLE, &o.accumulate, 1, 1e6, "BATCHES",
     "one step of the optimiser for so many, by the mean of their gradients"},
    {"optim", 0, OPT_CHOICE, &o.optim, 0, 0, "sgd|adam|adamw|lars",
     "optimiser"},
    {"lars", 0, OPT_CHOICE, &o.lars, 0, 0, "a|b", "which LARS"},
    {"lr", 0, OPT_REAL, &o.lr, 0, 1e6, "X", "learning rate"},
    {"momentum", 0, OPT_REAL, &o.momentum, 0, 0.9999, "X", "of sgd and lars"},
    {"nesterov", 0, OPT_FLAG, &o.nesterov, 0, 0, NULL, "Nesterov's step"},
    {"weight-decay", 0, OPT_REAL, &o.weight_decay, 0, 1e3, "X", "weight decay"},
    {"warmup", 0, OPT_REAL, &o.warmup, 0, 1e6, "EPOCHS",
     "the rate rises from 0"},
    {"schedule", 0, OPT_TEXT, &o.schedule, 0, 0, "SPEC",
     "of the rate: constant, cosine, step:E,E..., see foil-train(1)"},
    {"lr-end", 0, OPT_REAL, &o.lr_end, 0, 1e6, "X", "where its schedule goes"},
    {"tau-schedule", 0, OPT_TEXT, &o.tau_schedule, 0, 0, "SPEC",
     "how --tau goes to --tau-end"},
    {"tau-end", 0, OPT_REAL, &o.tau_end, 1e-4, 1e4, "X",
     "where the temperature goes"},
    {"gamma-schedule", 0, OPT_TEXT, &o.gamma_schedule, 0, 0, "SPEC",
     "how --gamma comes down from 1"},
    {"eta-schedule", 0, OPT_TEXT, &o.eta_schedule, 0, 0, "SPEC",
     "how --eta goes to --eta-end"},
    {"eta-end", 0, OPT_REAL, &o.eta_end, 0, 100, "X",
     "where the rate of temperatures goes"},
    {"seed", 's', OPT_WHOLE, &o.seed, 0, 1e15, "N", "of the initial weights"},
    {"threads", 0, OPT_WHOLE, &o.threads, 0, 1024, "N", "0: all cores"},
    {"steps", 0, OPT_WHOLE, &o.steps, 0, 1e15, "N",
     "stop after so many in all, 0: the plan's end"},
    {"checkpoint-every", 0, OPT_WHOLE, &o.every, 0, 1e15, "STEPS",
     "0: at the end only"},
    {"keep", 0, OPT_WHOLE, &o.keep, 2, 1e6, "N", "checkpoints"},
    {"keep-features", 0, OPT_WHOLE, &o.keep_features, 0, 1000, "EPOCHS",
     "keep those of the ends of so many epochs, for selectors"},
    {"resume", 0, OPT_FLAG, &o.resume, 0, 0, NULL,
     "go on from the newest checkpoint"},
    {"override", 0, OPT_LIST, &o.override, 0, 0, "KEY",
     "differ from the checkpoint in this"},
    {"credit", 0, OPT_WHOLE, &o.credit, 1, 1024, "N",
     "batches under way or waiting"},
    {"deadline", 0, OPT_REAL, &o.deadline, 1, 1e9, "SECONDS",
     "give up without a batch, or an answer"},
    {"sampler", 0, OPT_CHOICE, &o.sampler, 0, 0, "service|fresh|stale|reset",
     "of emc2: the service, or chains of our own with these scores"},
    {"nan", 0, OPT_CHOICE, &o.nonfinite, 0, 0, "stop|skip|rollback",
     "what to do about a step that is not finite"},
    {"policy", 0, OPT_CHOICE, &o.policy, 0, 0, "wait|in-batch",
     "when the negatives service is not there"},
    {"list", 0, OPT_CHOICE, &o.list, 0, 0, "objectives",
     "print what there is, a line of JSON each, and train nothing"},
    {"dry-run", 0, OPT_FLAG, &o.dry, 0, 0, NULL,
     "judge the options and DIR, print what the run needs, train nothing"},
    {0},
};

static const struct opt_tool tool = {
    "foil-train", "train an encoder by contrast", NULL, 0, 0, opts,
};

/* Options that do not change what a run computes are not remembered. */
static const void *const forgotten[] = {
    &o.run,    &o.batches,  &o.negatives, &o.events, &o.features, &o.keys,
    &o.allow,  &o.steps,    &o.every,     &o.keep,   &o.resume,   &o.override,
    &o.credit, &o.deadline, &o.nonfinite, &o.policy, &o.list,     &o.dry};

/* What can be overridden besides the remembered options. */
static const char *const others[] = {"dataset", "processor", "table"};

static int
is_remembered(const struct opt *opt)
{
    for (size_t i = 0; i < sizeof forgotten / sizeof *forgotten; i++)
        if (forgotten[i] == opt->value)
            return 0;
    return 1;
}

static int
can_be_overridden(const char *key)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i], key))
            return 1;
    for (const struct opt *opt = opts; opt->name; opt++)
        if (!strcmp(opt->name, key))
            return is_remembered(opt);
    return 0;
}

/* A parameter of the objective, and where in struct loss_param it is. */
static size_t
offset(const struct opt *opt)
{
    return (size_t)((const char *)opt->value - (const char *)&o.loss);
}

static int
is_param(const struct opt *opt)
{
    return offset(opt) < sizeof o.loss;
}

/* Refuses a parameter that was given, but that the objective does not read. */
static int
judge(struct err *err)
{
    const struct loss_objective *objective =
        loss_objective_find(o.objective, err);

    if (!objective)
        return -1;
    for (const struct opt *opt = opts; opt->name; opt++)
        if (is_param(opt) && opt_given(opt->value) &&
            !loss_objective_reads(objective, opt->name))
            return err_set(err, "%s has no --%s", o.objective, opt->name);
    if (objective->wants_weights && !objective->draws_inside &&
        strcmp(o.sampler, "service"))
        return err_set(err, "--sampler %s: %s needs foil-negatives", o.sampler,
                       o.objective);
    if (*o.basis && (opt_given(&o.mean) || opt_given(&o.deviation)))
        return err_set(err, "--basis has its own offset and scale: --mean and "
                            "--deviation have no use");
    if (*o.rows && !train_is_table(&o))
        return err_set(err, "--rows is for the encoder table, not for %s",
                       o.arch);
    o.loss.reference = o.compat[0] == 'r';
    return 0;
}

/* Parameters, and the head, that were not given are the objective's. */
static int
use_defaults(struct err *err)
{
    const struct loss_objective *objective =
        loss_objective_find(o.objective, err);

    if (!objective)
        return -1;
    for (const struct opt *opt = opts; opt->name; opt++)
        if (is_param(opt) && !opt_given(opt->value))
            memcpy(opt->value, (const char *)&objective->param + offset(opt),
                   sizeof(double));
    if (!o.head)
        o.head = train_is_table(&o) ? "none" : objective->head;
    return o.resume ? 0 : judge(err);
}

/* What an option is set to; null where it has no default and was not given. */
static json_t *
value_of(const struct opt *opt)
{
    const char *text;

    switch (opt->kind) {
    case OPT_FLAG:
        return json_boolean(*(const int *)opt->value);
    case OPT_WHOLE:
        return json_integer(*(const long *)opt->value);
    case OPT_REAL:
        return isnan(*(const double *)opt->value)
                   ? json_null()
                   : json_real(*(const double *)opt->value);
    case OPT_TEXT:
    case OPT_CHOICE:
    case OPT_LIST:
        break;
    }
    text = *(const char *const *)opt->value;
    return text ? json_string(text) : json_null();
}

json_t *
train_options_of(const struct loss_objective *objective)
{
    json_t *object = json_object();
    double value;

    for (const struct opt *opt = opts; opt->name; opt++) {
        if (!is_param(opt) || !loss_objective_reads(objective, opt->name))
            continue;
        memcpy(&value, (const char *)&objective->param + offset(opt),
               sizeof value);
        json_object_set_new(object, opt->name, json_real(value));
    }
    return object;
}

json_t *
train_options_put(void)
{
    json_t *object = json_object();

    for (const struct opt *opt = opts; opt->name; opt++)
        if (is_remembered(opt))
            json_object_set_new(object, opt->name, value_of(opt));
    return object;
}

/* What the options are that nobody gives. */
static json_t *defaults;

struct train_options *
train_options_get(int argc, char **argv)
{
    struct err err;

    defaults = train_options_put();
    opt_parse(&tool, argc, argv);
    if (o.list)
        return &o;
    if (!o.run)
        opt_misuse("-r is missing: the run directory");
    for (size_t i = 0; i < o.override.n; i++)
        if (!can_be_overridden(o.override.item[i]))
            opt_misuse("--override '%s': no checkpoint remembers that",
                       o.override.item[i]);
    opt_together(&o.keys, &o.allow);
    if (use_defaults(&err) || (!o.resume && train_check(&o, &err)))
        opt_misuse("%s", err.msg);
    return &o;
}

int
train_overridden(const char *key)
{
    for (size_t i = 0; i < o.override.n; i++)
        if (!strcmp(o.override.item[i], key))
            return 1;
    return 0;
}

/* Sets an option to a value that has its type. */
static void
set_value(const struct opt *opt, const json_t *value)
{
    switch (opt->kind) {
    case OPT_FLAG:
        *(int *)opt->value = json_is_true(value);
        break;
    case OPT_WHOLE:
        *(long *)opt->value = (long)json_integer_value(value);
        break;
    case OPT_REAL:
        *(double *)opt->value =
            json_is_null(value) ? NAN : json_real_value(value);
        break;
    case OPT_TEXT:
    case OPT_CHOICE:
    case OPT_LIST:
        *(const char **)opt->value = json_string_value(value);
        break;
    }
}

int
train_options_take(const json_t *saved, struct err *err)
{
    const size_t readable = JSON_ENCODE_ANY | JSON_REAL_PRECISION(9);

    for (const struct opt *opt = opts; opt->name; opt++) {
        const json_t *value = json_object_get(saved, opt->name);
        json_t *mine;
        char *is, *was;
        int same;

        if (!is_remembered(opt) || train_overridden(opt->name))
            continue;
        if (!value) // an option that is younger than the checkpoint
            value = json_object_get(defaults, opt->name);
        mine = value_of(opt);
        if (json_typeof(value) != json_typeof(mine) &&
            !(json_is_boolean(value) && json_is_boolean(mine)) &&
            !json_is_null(value) && !json_is_null(mine)) {
            json_decref(mine);
            return err_set(err, "the checkpoint does not say --%s", opt->name);
        }
        same = json_equal(mine, value);
        if (same || !opt_given(opt->value)) {
            set_value(opt, value);
            json_decref(mine);
            continue;
        }
        is = json_dumps(mine, readable);
        was = json_dumps(value, readable);
        err_set(err,
                "--%s is %s, but %s in the checkpoint: leave it out, or add "
                "--override %s",
                opt->name, is, was, opt->name);
        free(is);
        free(was);
        json_decref(mine);
        return -1;
    }
    return judge(err);
}
