#include <stdio.h>
#include <stdlib.h>

#include "negatives.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"

static struct negatives_options options = {.lease = 10, .limit = 600};
static int method;            /* of sample_sampler_methods() */
static const char *proposals; /* NULL: the method's first */
static int list = -1, dry;
static long max_state = SAMPLE_STORE_MOST >> 30;

/* The table of options: these, the samplers with their parameters (from
 * lib/sample), and the rest. */
static const struct opt edges[] = {
    STAGE_RUN_OPT(options.stage),
    {"negatives", 0, OPT_TEXT, &options.negatives, 0, 0, "ENDPOINT",
     "endpoint for the trainer [ipc://DIR/negatives]"},
    {"filter", 0, OPT_FLAG, &options.filter, 0, 0, NULL,
     "add images to items on their way to augmenters"},
    {"plan", 0, OPT_TEXT, &options.plan, 0, 0, "ENDPOINT",
     "endpoint of the selector [ipc://DIR/plan]"},
    {"items", 0, OPT_TEXT, &options.items, 0, 0, "ENDPOINT",
     "endpoint for augmenters [ipc://DIR/items]"},
    {0},
};
static const struct opt rest[] = {
    {"weigh-command", 0, OPT_TEXT, &options.command, 0, 0, "COMMAND",
     "a program of yours that weighs, instead of --method"},
    {"command-limit", 0, OPT_REAL, &options.limit, 0.1, 1e6, "SECONDS",
     "time limit for its answers"},
    {"keep", 0, OPT_WHOLE, &options.keep, 0, TABLE_WIDTH_MAX, "BYTES",
     "size of its table, which the trainer stores"},
    {"augmentations", 'a', OPT_WHOLE, &options.augmentations, 0, WIRE_VIEW_MAX,
     "N", "fixed views to choose from; 0: new ones each time"},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N",
     "seed of the random numbers"},
    {"max-state", 0, OPT_WHOLE, &max_state, 1, 1 << 20, "GIB",
     "largest state of chains and bank, which the trainer stores"},
    {"lease", 0, OPT_REAL, &options.lease, 0.1, 86400, "SECONDS",
     "time after which an item goes to another augmenter"},
    {"list", 0, OPT_CHOICE, &list, 0, 0, "samplers|options",
     "print all samplers, or the options, as JSON, one a line, and end"},
    {"dry-run", 0, OPT_FLAG, &dry, 0, 0, NULL,
     "check the options, print the method, and end"},
    STAGE_KEYS_OPTS(options.stage),
    {0},
};
static struct opt opts[OPT_MOST];
static struct param_set params;

static const struct opt_tool tool = {
    "foil-negatives",
    "draw and weigh the negatives of a batch",
    NULL,
    0,
    0,
    opts,
};

/* The option that takes a sampler's parameters. */
static const char *
name_option(const struct sample_sampler *sampler)
{
    return *sampler->proposals ? "proposals" : "method";
}

static void
make_table(void)
{
    const struct opt which[] = {
        {"method", 0, OPT_CHOICE, &method, 0, 0, sample_sampler_methods(),
         "Markov chains, also across the views, or draws from a bank"},
        {"proposals", 0, OPT_METHOD, &proposals, 0, 0,
         mem_format("%s[,PARAM=X]...", sample_sampler_proposals()),
         "proposals that a chain gets, one of the method's [once]"},
        {0},
    };
    size_t n = opt_append(opts, opt_append(opts, 0, edges), which);

    for (size_t i = 0; sample_samplers[i]; i++)
        param_set_add(&params, name_option(sample_samplers[i]),
                      sample_samplers[i]->method, sample_samplers[i]->params);
    n = param_set_opts(&params, opts, n);
    opt_append(opts, n, rest);
}

/* Checks --weigh-command: a program only weighs. */
static void
check_command(void)
{
    if (!options.command && opt_is_set(&options.limit))
        opt_misuse("--command-limit belongs to --weigh-command");
    if (!options.command && options.keep)
        opt_misuse("--keep belongs to --weigh-command");
    if (!options.command)
        return;
    if (options.filter)
        opt_misuse("--weigh-command adds no images to items: omit --filter");
    if (opt_is_set(&method) || opt_is_set(&proposals) ||
        param_set_used(&params))
        opt_misuse("--weigh-command takes the place of --method and its "
                   "options");
}

/* Checks options against the chosen sampler. */
static void
check_sampler(const struct sample_settings *settings)
{
    const struct sample_sampler *sampler = settings->sampler;
    const char *name =
        *sampler->proposals ? sampler->proposals : sampler->method;
    char full[64];
    struct err err;

    snprintf(full, sizeof full, "--%s %s", name_option(sampler), name);
    if (sampler->needs_outside && !options.filter)
        opt_misuse("%s draws from outside of the batch: that needs --filter",
                   full);
    if (options.augmentations && sampler->one_chain)
        opt_misuse("%s has one chain for each image: it is not for "
                   "--augmentations",
                   full);
    if (param_set_check(&params, full, sampler->params, &err) ||
        (sampler->check_settings && sampler->check_settings(settings, &err)))
        opt_misuse("%s", err.msg);
}

const struct negatives_options *
negatives_options_get(int argc, char **argv)
{
    struct sample_settings *settings = &options.settings;
    const struct sample_sampler *sampler;
    struct err err;

    make_table();
    opt_parse(&tool, argc, argv);
    if (list >= 0) {
        for (size_t i = 0; sample_samplers[i]; i++) {
            const struct sample_sampler *s = sample_samplers[i];

            json_print(json_pack(
                "{s:s, s:s, s:s, s:b, s:o}", "method", s->method, "proposals",
                s->proposals, "summary", s->summary, "filter", s->needs_outside,
                "defaults", param_list(s->params)));
        }
        exit(EXIT_OK);
    }
    sampler = sample_sampler_find(opt_choice(&method), proposals, &err);
    if (!sampler)
        opt_misuse("%s", err.msg);
    *settings = (struct sample_settings){.sampler = sampler,
                                         .draws_outside = options.filter,
                                         .most = (size_t)max_state << 30,
                                         .seed = (uint64_t)options.seed};
    param_set_get(&params, sampler->params, settings->value);
    opt_together(&options.stage.keys, &options.stage.allow);
    if (!options.stage.run &&
        (!options.negatives ||
         (options.filter && !(options.plan && options.items))))
        opt_misuse(options.filter
                       ? "needs -r DIR, or --negatives, --plan and --items"
                       : "needs -r DIR or --negatives ENDPOINT");
    check_command();
    check_sampler(settings);
    if (options.augmentations == 1)
        opt_misuse("--augmentations 1 leaves no second view");
    if (options.augmentations && !options.filter)
        opt_misuse("--augmentations chooses views of items: that needs "
                   "--filter");
    if (dry) {
        json_print(json_pack("{s:s?, s:b}", "method",
                             options.command ? NULL : opt_choice(&method),
                             "filter", options.filter));
        exit(EXIT_OK);
    }
    return &options;
}
