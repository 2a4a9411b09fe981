#include <string.h>

#include "negatives.h"
#include "util/opt.h"
#include "wire/keys.h"
#include "wire/sock.h"

static struct negatives_options options = {
    .how = {.burn = -1, .horizon = 8, .refresh = 0.001, .limit = 10},
    .lease = 10,
};
static const char *method = "emc2", *proposals = "once", *scores = "fresh";
static const char *outside; /* NULL: not given */
static long horizon = 8, moves = 64, max_state = SAMPLE_STORE_MOST >> 30;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &options.run, 0, 0, "DIR",
     "run directory: endpoints not given are inside"},
    {"negatives", 0, OPT_TEXT, &options.negatives, 0, 0, "ENDPOINT",
     "endpoint for the trainer [ipc://DIR/negatives]"},
    {"filter", 0, OPT_FLAG, &options.filter, 0, 0, NULL,
     "add images to items on their way to augmenters"},
    {"plan", 0, OPT_TEXT, &options.plan, 0, 0, "ENDPOINT",
     "endpoint of the selector [ipc://DIR/plan]"},
    {"items", 0, OPT_TEXT, &options.items, 0, 0, "ENDPOINT",
     "endpoint for augmenters [ipc://DIR/items]"},
    {"method", 0, OPT_WORD, &method, 0, 0, "emc2|emc2_bimodal|cache",
     "Markov chains, also across the views, or draws from a bank"},
    {"scores", 0, OPT_WORD, &scores, 0, 0, "fresh|stale|reset",
     "how the old state of a chain is scored"},
    {"outside", 0, OPT_WORD, &outside, 0, 0, "image|text|bank",
     "emc2_bimodal: what scores a state from outside of the batch"},
    {"proposals", 0, OPT_WORD, &proposals, 0, 0, SAMPLE_PROPOSALS,
     "proposals that a chain gets"},
    {"burn-in", 0, OPT_WHOLE, &options.how.burn, -1, 1e6, "N",
     "proposals not recorded; -1: half of them"},
    {"moves", 0, OPT_WHOLE, &moves, 1, 1e6, "M",
     "moves of a chain over the bank, before each visit"},
    {"refresh", 0, OPT_REAL, &options.how.refresh, 0, 1, "RHO",
     "share of the bank that the cache renews each step"},
    {"clip", 0, OPT_REAL, &options.how.limit, 1, 1e9, "X",
     "largest importance weight of a draw of the cache"},
    {"horizon", 0, OPT_WHOLE, &horizon, 1, SAMPLE_HORIZON_MAX, "H",
     "steps by which the bank is delayed"},
    {"augmentations", 'a', OPT_WHOLE, &options.augmentations, 0, WIRE_VIEW_MAX,
     "N", "fixed views to choose from; 0: new ones each time"},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N",
     "seed of the random numbers"},
    {"max-state", 0, OPT_WHOLE, &max_state, 1, 1 << 20, "GIB",
     "most bytes of chains and bank, which the trainer keeps"},
    {"lease", 0, OPT_REAL, &options.lease, 0.1, 86400, "SECONDS",
     "time after which an item goes to another augmenter"},
    WIRE_KEYS_OPT(&options.keys),
    WIRE_ALLOW_OPT(&options.allow),
    {0},
};

static const struct opt_tool tool = {
    "foil-negatives",
    "draw and weigh the negatives of a batch",
    NULL,
    0,
    0,
    opts,
};

/* The place of a word in a list of them. */
static int
place(const char *word, const char *const *list)
{
    int i = 0;

    while (strcmp(list[i], word))
        i++;
    return i;
}

/* Without a word on it, what there is. */
static enum sample_elsewhere
elsewhere(const struct sample_how *how)
{
    static const char *const words[] = {"image", "text", "bank"};

    if (outside)
        return (enum sample_elsewhere)place(outside, words);
    return options.filter || how->scores != SAMPLE_FRESH ? SAMPLE_BROUGHT
                                                         : SAMPLE_BANKED;
}

static void
choose(struct sample_how *how)
{
    static const char *const scored[] = {"fresh", "stale", "reset"};

    how->cache = !strcmp(method, "cache");
    how->scores = (enum sample_scores)place(scores, scored);
    sample_how_propose(how, proposals, how->cache ? 0 : (size_t)moves);
    if (!strcmp(method, "emc2_bimodal")) {
        how->proposals = SAMPLE_CROSS;
        how->elsewhere = elsewhere(how);
    }
    how->horizon = (size_t)horizon;
    how->seed = (uint64_t)options.seed;
    how->most = (size_t)max_state << 30;
}

static void
check_outside(const struct sample_how *how)
{
    if (!outside)
        return;
    if (strcmp(method, "emc2_bimodal"))
        opt_misuse("--outside is for --method emc2_bimodal");
    if (how->scores != SAMPLE_FRESH)
        opt_misuse("--outside %s scores afresh where a chain stands: it is not "
                   "for --scores %s",
                   outside, scores);
    if (how->elsewhere == SAMPLE_BANKED && options.filter)
        opt_misuse("--outside bank lets nothing come along: it wants no "
                   "--filter");
    if (how->elsewhere != SAMPLE_BANKED && !options.filter)
        opt_misuse("--outside %s lets samples come along: that needs --filter",
                   outside);
}

/* What was asked for and would not be done. */
static void
check(const struct sample_how *how)
{
    opt_together(&options.keys, &options.allow);
    if (!options.run && (!options.negatives ||
                         (options.filter && !(options.plan && options.items))))
        opt_misuse(options.filter
                       ? "wants -r DIR, or --negatives, --plan and --items"
                       : "wants -r DIR or --negatives ENDPOINT");
    if (sample_source_banks(how) && !options.filter)
        opt_misuse("--%s %s draws from outside of the batch: that needs "
                   "--filter",
                   how->cache ? "method" : "proposals",
                   how->cache ? method : proposals);
    if ((how->moves || how->proposals == SAMPLE_EXACT) &&
        how->scores != SAMPLE_FRESH)
        opt_misuse("--proposals %s scores afresh where its chains stand",
                   proposals);
    if (how->proposals == SAMPLE_EXACT && !options.filter)
        opt_misuse("--proposals exact draws from where its chains stand, too: "
                   "that needs --filter");
    if (how->proposals == SAMPLE_EXACT && opt_given(&options.how.burn))
        opt_misuse("--burn-in is for chains that get proposals: an exact draw "
                   "has none");
    if (how->cache && opt_given(&scores))
        opt_misuse("--scores is for chains, not for --method cache");
    if (strcmp(method, "emc2") && opt_given(&proposals))
        opt_misuse("--proposals is for --method emc2");
    check_outside(how);
    if (options.augmentations == 1)
        opt_misuse("--augmentations 1 leaves no second view");
    if (options.augmentations && how->proposals == SAMPLE_ALL4)
        opt_misuse("--proposals all4 has one chain for each image: it is not "
                   "for --augmentations");
    if (options.augmentations && !options.filter)
        opt_misuse("--augmentations chooses views of items: that needs "
                   "--filter");
}

const struct negatives_options *
negatives_options_get(int argc, char **argv)
{
    opt_parse(&tool, argc, argv);
    choose(&options.how);
    check(&options.how);
    return &options;
}
