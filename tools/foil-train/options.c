#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "run/settings.h"
#include "train.h"
#include "train/process.h"
#include "train/shards.h"
#include "util/mem.h"
#include "wire/edge.h"
#include "wire/progress.h"

enum { AUTO = 2 }; // of --precision, after f32 and bf16

static struct train_options o = {
    .objective = "simclr",
    .list = -1,
    .arch = "resnet18",
    .basis = "",
    .rows = "",
    .context = 32,
    .embed = 256,
    .mean = "0.485,0.456,0.406",
    .deviation = "0.229,0.224,0.225",
    .schedule = "cosine",
    .proposals = "once",
    .moves = 64,
    .burn = -1,
    .shards = 1,
    .optimiser = {.momentum = 0.9,
                  .weight_decay = 1e-4,
                  .accumulate = 1,
                  .beta1 = 0.9,
                  .beta2 = 0.999,
                  .epsilon = 1e-8},
    .lr = 0.1,
    .every = 500,
    .keep = 2,
    .window = 8,
    .max_batch = WIRE_BATCH_PART >> 20,
    .max_state = SAMPLE_STORE_MOST >> 30,
    .deadline = 600,
    .limit = 600,
};

/* The run directory and its endpoints. */
static const struct opt endpoints[] = {
    {"run", 'r', OPT_TEXT, &o.stage.run, 0, 0, "DIR", "run directory"},
    {"batches", 0, OPT_TEXT, &o.batches, 0, 0, "ENDPOINT",
     "endpoint for augmenters [ipc://DIR/batch]"},
    {"negatives", 0, OPT_TEXT, &o.negatives, 0, 0, "ENDPOINT",
     "endpoint of the negatives service [ipc://DIR/negatives]"},
    {"events", 0, OPT_TEXT, &o.events, 0, 0, "ENDPOINT",
     "endpoint for subscribers to events [ipc://DIR/events]"},
    {"features", 0, OPT_TEXT, &o.features, 0, 0, "ENDPOINT",
     "endpoint for selectors that use features [ipc://DIR/features]"},
    STAGE_KEYS_OPTS(o.stage),
    {0},
};

/* Options that decide the result and are stored in checkpoints: the objective,
 * its parameters (from lib/loss), then the rest. */
static const struct opt objective_opts[] = {
    {"objective", 0, OPT_METHOD, &o.objective, 0, 0, "NAME[,PARAM=X]...",
     "loss to minimise, one of --list objectives; external, "
     "external-weighed: the encoder's"},
    {"compat", 0, OPT_CHOICE, &o.loss.reference, 0, 0, "paper|reference",
     "what to follow if a paper and its authors' program differ"},
    {"positive-views", 0, OPT_WHOLE, &o.targets, 0, LOSS_VIEWS_MAX, "N",
     "only the first N views are positives of the others; 0: all"},
    {0},
};
static const struct opt encoder_opts[] = {
    {"vocabulary", 0, OPT_TEXT, &o.vocabulary, 0, 0, "FILE",
     "vocabulary of texts: merges.txt or vocab.txt"},
    {"embed", 0, OPT_WHOLE, &o.embed, 1, 65536, "N",
     "width of the embeddings, with texts"},
    {"freeze", 0, OPT_CHOICE, &o.freeze, 0, 0, "none|image|text",
     "encoder whose weights are not trained"},
    {"init", 0, OPT_LIST, &o.init, 0, 0, "[image=|text=]FILE",
     "initial weights of an encoder, .safetensors"},
    {"head", 0, OPT_TEXT, &o.head, 0, 0, "SPEC",
     "projection head: 512-128, 512-128-bn, none; else the objective's"},
    {"precision", 0, OPT_CHOICE, &o.bf16, 0, 0, "f32|bf16|auto",
     "precision of activations; auto: bf16 if faster"},
    {"gelu", 0, OPT_CHOICE, &o.quick_gelu, 0, 0, "erf|quick",
     "of the text encoder, quick for OpenAI's weights"},
    {"context", 0, OPT_WHOLE, &o.context, 2, 4096, "N",
     "largest number of tokens of a text"},
    {"stem", 0, OPT_CHOICE, &o.stem, 0, 0, "auto|small|imagenet",
     "first layer of a resnet; auto: imagenet above 64 pixels"},
    {"norm", 0, OPT_CHOICE, &o.norm, 0, 0, "batch|group|none",
     "normalisation layers"},
    {"width", 0, OPT_WHOLE, &o.width, 0, 4096, "N",
     "channels of the first stage; 0: the default of --arch"},
    {"hidden", 0, OPT_WHOLE, &o.hidden, 0, 65536, "N",
     "mlp, linear, rows, table: width; 0: 512"},
    {"basis", 0, OPT_TEXT, &o.basis, 0, 0, "FILE",
     "linear: fixed basis of the pixels; ResNet: first filters, .npy"},
    {"rows", 0, OPT_TEXT, &o.rows, 0, 0, "FILE",
     "table: initial embeddings; rows: input of the layer, .npy"},
    {"mean", 0, OPT_TEXT, &o.mean, 0, 0, "R,G,B", "mean of pixels / 255"},
    {"deviation", 0, OPT_TEXT, &o.deviation, 0, 0, "R,G,B",
     "standard deviation of pixels / 255"},
    {"feature-size", 0, OPT_WHOLE, &o.feature_size, 0, 1024, "N",
     "size of images for features; 0: that of the views"},
    {"conv", 0, OPT_CHOICE, &o.direct, 0, 0, "auto|direct",
     "convolutions; auto: Winograd if it is faster"},
    {"micro-batch", 0, OPT_WHOLE, &o.micro, 0, 1 << 20, "ROWS",
     "views that go through the encoder at a time; 0: all"},
    {"shards", 0, OPT_WHOLE, &o.shards, 1, TRAIN_SHARDS_MOST, "N",
     "parts of a batch that ranks share, a power of two"},
    {"norm-over", 0, OPT_CHOICE, &o.whole, 0, 0, "shard|batch",
     "rows of the statistics of batch norm, with --shards"},
    {"optim", 0, OPT_CHOICE, &o.optim, 0, 0, "sgd|adam|adamw|lars|muon",
     "optimiser; with parameters: sgd,momentum=0.9,nesterov"},
    {"lr", 0, OPT_REAL, &o.lr, 0, 1e6, "X", "learning rate"},
    {"weight-decay", 0, OPT_REAL, &o.optimiser.weight_decay, 0, 1e3, "X",
     "weight decay"},
    {"warmup", 0, OPT_REAL, &o.warmup, 0, 1e6, "EPOCHS",
     "epochs in which the learning rate rises from 0"},
    {"schedule", 0, OPT_TEXT, &o.schedule, 0, 0, "SPEC",
     "of the learning rate: constant, cosine, step:E,E...; cosine,end=X"},
    {"average-last", 0, OPT_REAL, &o.average, 0, 1, "SHARE",
     "also save the mean of the weights over this last share of the epochs"},
    {"seed", 's', OPT_WHOLE, &o.seed, 0, 1e15, "N",
     "seed of the initial weights"},
    {"threads", 0, OPT_WHOLE, &o.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    {"lr-end", 0, OPT_REAL, &o.lr_end, 0, 1e6, "X",
     "learning rate at the end of its schedule"},
    {"momentum", 0, OPT_REAL, &o.optimiser.momentum, 0, 0.9999, "X",
     "sgd, lars, muon: momentum"},
    {"nesterov", 0, OPT_FLAG, &o.optimiser.nesterov, 0, 0, NULL,
     "sgd: Nesterov momentum"},
    {"beta1", 0, OPT_REAL, &o.optimiser.beta1, 1e-9, 0.999999, "X",
     "adam, adamw, muon: weight of the old mean"},
    {"beta2", 0, OPT_REAL, &o.optimiser.beta2, 1e-9, 0.999999, "X",
     "adam, adamw, muon: weight of the old mean square"},
    {"epsilon", 0, OPT_REAL, &o.optimiser.epsilon, 1e-30, 1, "X",
     "adam, adamw, muon: added to the root of the mean square"},
    {"lars", 0, OPT_CHOICE, &o.lars_b, 0, 0, "a|b", "variant of LARS"},
    {"accumulate", 0, OPT_WHOLE, &o.optimiser.accumulate, 1, 1e6, "BATCHES",
     "batches for each step of the optimiser, by their mean gradient"},
    {"keep-features", 0, OPT_WHOLE, &o.keep_features, 0, 1000, "EPOCHS",
     "past epochs with stored features, for selectors"},
    {"sampler", 0, OPT_CHOICE, &o.sampler, 0, 0, "service|trainer",
     "what weighs negatives: foil-negatives, or chains of the trainer"},
    {"proposals", 0, OPT_METHOD, &o.proposals, 0, 0, "NAME[,PARAM=X]...",
     "proposals of the trainer's chains: foil-negatives --list samplers"},
    {"scores", 0, OPT_CHOICE, &o.scores, 0, 0, SAMPLE_SCORES,
     "how the old state of a chain is scored"},
    {"outside", 0, OPT_CHOICE, &o.outside, 0, 0, "auto|bank",
     "emc2_bimodal: what scores a state from outside of the batch"},
    {"moves", 0, OPT_WHOLE, &o.moves, 1, 1e6, "M",
     "moves over the bank, before each visit"},
    {"burn-in", 0, OPT_WHOLE, &o.burn, -1, 1e6, "N",
     "proposals not recorded; -1: half of them"},
    {0},
};

/* Parameters of other options. */
static const struct opt_parameter parameters[] = {
    {&o.stem, "arch", "stem"},
    {&o.norm, "arch", "norm"},
    {&o.width, "arch", "width"},
    {&o.hidden, "arch", "hidden"},
    {&o.basis, "arch", "basis"},
    {&o.rows, "arch", "rows"},
    {&o.quick_gelu, "text", "gelu"},
    {&o.context, "text", "context"},
    {&o.optimiser.momentum, "optim", "momentum"},
    {&o.optimiser.nesterov, "optim", "nesterov"},
    {&o.optimiser.beta1, "optim", "beta1"},
    {&o.optimiser.beta2, "optim", "beta2"},
    {&o.optimiser.epsilon, "optim", "epsilon"},
    {&o.lars_b, "optim", "form"},
    {&o.lr_end, "schedule", "end"},
    {&o.scores, "proposals", "scores"},
    {&o.outside, "proposals", "outside"},
    {&o.moves, "proposals", "moves"},
    {&o.burn, "proposals", "burn-in"},
    {0},
};

/* Options that do not decide the result. */
static const struct opt control_opts[] = {
    {"steps", 0, OPT_WHOLE, &o.steps, 0, 1e15, "N",
     "stop after N steps in all; 0: after the plan"},
    {"checkpoint-every", 0, OPT_WHOLE, &o.every, 0, 1e15, "STEPS",
     "steps between checkpoints; 0: at the end only"},
    {"checkpoint-epochs", 0, OPT_WHOLE, &o.every_epochs, 0, 1e9, "N",
     "also a checkpoint after each Nth epoch; 0: none"},
    {"keep", 0, OPT_WHOLE, &o.keep, 2, 1e6, "N",
     "number of checkpoints to keep"},
    {"resume", 0, OPT_FLAG, &o.resume, 0, 0, NULL,
     "continue from the newest checkpoint"},
    {"policy", 0, OPT_CHOICE, &o.in_batch, 0, 0, "wait|in-batch",
     "what to do while the negatives service does not answer"},
    {"nonfinite", 0, OPT_CHOICE, &o.nonfinite, 0, 0, "stop|skip|rollback",
     "what to do after a loss or gradient that is not finite"},
    {"labels", 0, OPT_TEXT, &o.labels, 0, 0, "DATA|FILE",
     "report the share of negatives in the anchor's class, by these labels"},
    {"list", 0, OPT_CHOICE, &o.list, 0, 0, "objectives|options",
     "print all objectives, or the options, as JSON, one a line, and end"},
    {"dry-run", 0, OPT_FLAG, &o.dry, 0, 0, NULL,
     "check the options and DIR, print what the run needs, and end"},
    {"override", 0, OPT_LIST, &o.override, 0, 0, "KEY",
     "allow this option to differ from the checkpoint"},
    {"encoder-lost", 0, OPT_CHOICE, &o.lost, 0, 0, "end|resume",
     "what to do when the program of --encoder fails"},
    {"command-limit", 0, OPT_REAL, &o.limit, 0.1, 1e6, "SECONDS",
     "time limit for its answers"},
    {"window", 0, OPT_WHOLE, &o.window, 1, WIRE_WINDOW_MAX, "N",
     "batches that are requested, waiting or in training"},
    {"max-batch", 0, OPT_WHOLE, &o.max_batch, 1, 1 << 20, "MIB",
     "refuse larger batches"},
    {"max-state", 0, OPT_WHOLE, &o.max_state, 1, 1 << 20, "GIB",
     "largest state of a sampler"},
    {"deadline", 0, OPT_REAL, &o.deadline, 1, 1e9, "SECONDS",
     "give up after this time without a batch or an answer"},
    {0},
};

/* All options. */
static struct opt opts[OPT_MOST];
static struct param_set params;
static struct run_settings settings;

static const struct opt_tool tool = {
    "foil-train", "train an encoder by contrast", NULL, 0, 0, opts,
};

/* --help in parts. */
static const struct opt_group groups[] = {
    {"Run", &o.stage.run, 0},
    {"Endpoints", &o.batches, 1},
    {"Objective", &o.objective, 0},
    {"Encoder", &o.arch, 0},
    {"Encoder, more", &o.mean, 1},
    {"Optimisation", &o.optim, 0},
    {"Optimisation, more", &o.optimiser.accumulate, 1},
    {"Sampler of emc2 in the trainer", &o.sampler, 1},
    {"Control", &o.steps, 0},
    {"Conduct, more", &o.override, 1},
    {0},
};

/* Keys that --override takes besides the stored options. */
static const char *const others[] = {"dataset", "processor", "table"};

/* The names of all text or image encoders. */
static const char *
arch_names(int texts)
{
    static char all[2][512];

    snprintf(all[texts], sizeof all[texts], "%s|%s", nn_encoder_names(texts),
             nn_arch_program);
    return all[texts];
}

static void
make_table(void)
{
    const struct opt arch[] = {
        {"arch", 0, OPT_TEXT, &o.arch, 0, 0, arch_names(0), "encoder"},
        {"text", 0, OPT_TEXT, &o.text, 0, 0, arch_names(1),
         "text encoder, to train on images with captions"},
        {"encoder", 0, OPT_TEXT, &o.encoder, 0, 0, "COMMAND",
         "a program of yours that computes the encoders, foil-encoder(5)"},
        {0},
    };
    size_t first, end;

    for (size_t i = 0; loss_objectives[i]; i++)
        param_set_add(&params, "objective", loss_objectives[i]->name,
                      loss_objectives[i]->params);
    first = opt_append(opts, 0, endpoints);
    end = opt_append(opts, first, objective_opts);
    end = param_set_opts(&params, opts, end);
    end = opt_append(opts, end, arch);
    end = opt_append(opts, end, encoder_opts);
    opt_append(opts, end, control_opts);
    opt_parameters(parameters);
    run_settings_init(&settings, opts + first, end - first, others,
                      sizeof others / sizeof *others, &o.override);
}

/* Checks --encoder against other options. */
static int
check_encoder(struct err *err)
{
    const char *theirs = !strcmp(o.arch, nn_arch_program)             ? "arch"
                         : o.text && !strcmp(o.text, nn_arch_program) ? "text"
                                                                      : NULL;

    if (!o.encoder && (!strcmp(o.objective, train_external.name) ||
                       !strcmp(o.objective, train_external_weighed.name)))
        return err_set(err,
                       "--objective %s needs --encoder, the command of a "
                       "program that computes the loss",
                       o.objective);
    if (!o.encoder && theirs)
        return err_set(err,
                       "--%s %s needs --encoder, the command of that "
                       "program",
                       theirs, nn_arch_program);
    if (!o.encoder && (opt_is_set(&o.lost) || opt_is_set(&o.limit)))
        return err_set(err, "--%s belongs to --encoder",
                       opt_is_set(&o.lost) ? "encoder-lost" : "command-limit");
    if (o.encoder && *o.basis)
        return err_set(err, "--arch: basis is for encoders that are computed "
                            "here, not by --encoder");
    if (o.encoder && theirs && opt_is_set(&o.head))
        return err_set(err, "--head: with --%s %s the head is the program's",
                       theirs, nn_arch_program);
    return 0;
}

/* Checks options of texts against others. */
static int
check_captions(struct err *err)
{
    if (!o.text && (o.vocabulary || o.freeze))
        return err_set(err, "%s has no effect without --text",
                       o.vocabulary ? "--vocabulary" : "--freeze");
    if (o.text && nn_encoder_of_rows(o.text) != nn_encoder_of_rows(o.arch))
        return err_set(err,
                       "--text %s and --arch %s: two encoders of rows, or "
                       "of images and texts",
                       o.text, o.arch);
    if (o.text && !train_has_captions(&o) && o.vocabulary)
        return err_set(err, "--vocabulary has no effect on rows of numbers");
    if (train_has_captions(&o) && !o.vocabulary)
        return err_set(err, "--text needs --vocabulary, the file by which "
                            "captions become tokens");
    if (o.text && opt_is_set(&o.head))
        return err_set(err, "--head: with --text both encoders end in "
                            "--embed numbers");
    if (o.text && nn_encoder_reads(o.arch, NN_IDS))
        return err_set(err,
                       "--arch %s reads no images, so it cannot train on pairs",
                       o.arch);
    return 0;
}

/* Returns a parameter of the trainer's chains that is on the command line and
 * not in `have` (NULL: any parameter), or NULL. */
static const char *
find_chain_param(const struct param *have)
{
    for (const struct opt_parameter *p = parameters; p->value; p++)
        if (!strcmp(p->of, "proposals") && opt_is_set(p->value) &&
            !(have && param_find(have, p->name)))
            return p->name;
    return NULL;
}

/* Checks options of the trainer's chains. */
static int
check_chains(const struct loss_objective *objective, struct err *err)
{
    const int has_proposals =
        opt_is_set(&o.proposals) || find_chain_param(NULL);
    const char *unknown;
    struct sample_settings own;

    if (has_proposals && !objective->needs_weights)
        return err_set(err,
                       "--proposals is for objectives that weigh negatives, "
                       "not for %s",
                       o.objective);
    if (has_proposals && o.sampler == TRAIN_SERVICE)
        return err_set(err, "--proposals is for --sampler trainer: the "
                            "negatives service has an option of that name");
    if (!objective->needs_weights || o.sampler == TRAIN_SERVICE)
        return 0;
    if (train_sample_settings(&o, objective, &own, err))
        return -1;
    if (own.sampler->needs_outside && !own.draws_outside)
        return err_set(err,
                       "--proposals %s draws from outside of the batch: the "
                       "trainer's chains need scores=fresh and an encoder of "
                       "rows for that, else use the service",
                       o.proposals);
    unknown = find_chain_param(own.sampler->params);
    if (unknown)
        return err_set(err, "--proposals %s of %s has no parameter '%s'",
                       o.proposals, o.objective, unknown);
    return o.outside && o.scores
               ? err_set(err, "--proposals: outside=bank needs scores=fresh")
               : 0;
}

/* Refuses options that do not fit together. */
static int
check_options(const struct loss_objective *objective, struct err *err)
{
    if (param_set_check(&params, objective->name, objective->params, err))
        return -1;
    if (objective->needs_weights && !objective->draws_inside &&
        o.sampler != TRAIN_SERVICE)
        return err_set(err, "--sampler trainer: %s needs foil-negatives",
                       o.objective);
    if (*o.basis && !nn_encoder_any_size(o.arch) &&
        (opt_is_set(&o.mean) || opt_is_set(&o.deviation)))
        return err_set(err,
                       "--arch: basis has its own offset and scale: --mean "
                       "and --deviation have no effect");
    if (*o.basis && nn_encoder_reads(o.arch, NN_IDS))
        return err_set(err, "--arch: basis is for pixels, and %s reads none",
                       o.arch);
    if (*o.rows && !nn_encoder_reads(o.arch, NN_IDS))
        return err_set(err,
                       "--arch: rows is for the encoders table and rows, not "
                       "for %s",
                       o.arch);
    if (!*o.rows && nn_encoder_looks_up(o.arch))
        return err_set(err,
                       "--arch %s needs %s,rows=FILE, the input of its layer",
                       o.arch, o.arch);
    if (*o.rows && o.init.n)
        return err_set(err,
                       "--arch: rows and --init both set the initial weights");
    return check_chains(objective, err) || check_captions(err) ||
                   check_encoder(err) ||
                   train_init_check(&o.init, !!o.text, err)
               ? -1
               : 0;
}

/* Sets the objective's parameters from the options, by default to its own
 * values. */
static void
set_objective(const struct loss_objective *objective)
{
    static char project[32];

    param_set_get(&params, objective->params, o.loss.value);
    for (size_t i = 0; objective->params[i].name; i++) {
        const struct param_option *option =
            param_set_find(&params, objective->params[i].name);

        o.param_schedule[i] =
            (struct train_schedule){option->schedule, option->end};
    }
    if (!opt_is_set(&o.head) && !strcmp(o.arch, nn_arch_program))
        o.head = "none"; // the program has its own
    snprintf(project, sizeof project, "project:%ld", o.embed);
    if (o.text && !opt_is_set(&o.head))
        o.head = train_has_captions(&o) ? project : "none";
    if (!o.head)
        o.head = nn_encoder_reads(o.arch, NN_IDS) || nn_encoder_of_rows(o.arch)
                     ? "none"
                     : objective->head;
    if (o.bf16 == AUTO) {
        o.chosen = 1;
        o.bf16 = train_bf16_faster(&o);
    }
}

json_t *
train_options_put(void)
{
    struct err err;
    const struct loss_objective *objective =
        train_find_objective(o.objective, &err);
    json_t *object = run_settings_put(&settings);

    if (o.sampler != TRAIN_SERVICE)
        json_object_set_new(
            object, "sampler",
            json_string(o.outside ? "bank" : opt_choice(&o.scores)));
    json_object_del(object, "scores");
    json_object_del(object, "outside");
    for (size_t i = 0; objective->params[i].name; i++)
        json_object_set_new(object, objective->params[i].name,
                            param_json(objective->params + i, o.loss.value[i]));
    return object;
}

struct train_options *
train_options_get(int argc, char **argv)
{
    const struct loss_objective *objective;
    struct err err;

    make_table();
    opt_groups(groups);
    opt_parse(&tool, argc, argv);
    if (o.list >= 0)
        return &o;
    if (!o.stage.run)
        opt_misuse("-r is missing: the run directory");
    for (size_t i = 0; i < o.override.n; i++)
        if (!run_settings_has(&settings, o.override.item[i]))
            opt_misuse("--override '%s': checkpoints do not store that",
                       o.override.item[i]);
    opt_together(&o.stage.keys, &o.stage.allow);
    if (o.encoder && !opt_is_set(&o.arch))
        o.arch = nn_arch_program;
    objective = train_find_objective(o.objective, &err);
    if (objective)
        set_objective(objective);
    if (!objective || (!o.resume && (check_options(objective, &err) ||
                                     train_check(&o, &err))))
        opt_misuse("%s", err.msg);
    return &o;
}

int
train_overridden(const char *key)
{
    return run_settings_overridden(&settings, key);
}

/* Returns 1 if the saved value of an option applies, 0 for a parameter of
 * another objective. */
static int
is_counted(const char *name, const void *data)
{
    const struct loss_objective *objective = data;

    return !objective || !param_set_find(&params, name) ||
           param_find(objective->params, name);
}

/* Returns the options of a checkpoint in today's spelling: older ones have one
 * word for --sampler and two parameters, and may have parameters in
 * --proposals and an old name of the objective. */
static json_t *
update_spelling(const json_t *saved)
{
    json_t *now = json_copy((json_t *)saved);
    const char *word = json_string_value(json_object_get(saved, "sampler"));
    const char *list = json_string_value(json_object_get(saved, "proposals"));
    const char *objective =
        json_string_value(json_object_get(saved, "objective"));
    const struct opt_old *old =
        objective ? opt_old_find(tool.name, "objective", objective) : NULL;
    char *copy = mem_text(list ? list : ""), *rest, *name, *value;

    if (old)
        json_object_set_new(now, "objective",
                            json_string(strchr(old->now, ' ') + 1));
    if (word && strcmp(word, "service")) {
        const int bank = !strcmp(word, "bank");

        json_object_set_new(now, "sampler", json_string("trainer"));
        json_object_set_new(now, "scores", json_string(bank ? "fresh" : word));
        json_object_set_new(now, "outside", json_string(bank ? word : "auto"));
    }
    name = strtok_r(copy, ",", &rest);
    if (name)
        json_object_set_new(now, "proposals", json_string(name));
    while ((name = strtok_r(NULL, ",=", &rest)) &&
           (value = strtok_r(NULL, ",", &rest))) {
        json_t *number = json_loads(value, JSON_DECODE_ANY, NULL);

        json_object_set_new(now, name, number ? number : json_string(value));
    }
    free(copy);
    return now;
}

int
train_options_take(const json_t *config, struct err *err)
{
    static json_t *saved; // until the process ends
    const struct loss_objective *objective;
    const char *name, *word;

    json_decref(saved);
    saved = update_spelling(config);
    name = json_string_value(json_object_get(saved, "objective"));
    objective = name ? train_find_objective(name, err) : NULL;
    if (o.chosen) { // the saved choice of auto, unless that is overridden
        word = json_string_value(json_object_get(saved, "precision"));
        o.chosen = 0;
        o.bf16 = train_overridden("precision") ? AUTO
                                               : word && !strcmp(word, "bf16");
    }
    if (run_settings_take(&settings, saved, is_counted, objective, err))
        return -1;
    objective = train_find_objective(o.objective, err);
    if (!objective)
        return -1;
    set_objective(objective);
    return check_options(objective, err);
}
