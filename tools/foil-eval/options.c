#include "data/jpeg.h"
#include "eval.h"
#include "util/opt.h"
#include "wire/keys.h"

struct options given = {
    .k_list = "1,10",
    .metric = "cosine",
    .temperature = 0.07,
    .protocol = "lbfgs",
    .held_out = 0.1,
    .tolerance = 1e-4,
    .iterations = 1000,
    .rows = 10000,
    .recipe = "cifar",
    .views = 2,
    .tau = 0.2,
    .batch = 256,
    .max_pixels = DATA_MAX_PIXELS,
    .components = 64,
    .column = "tau",
    .extreme = 600,
    .principal = 500,
    .ridge = 0.1,
    .nearest = 10,
    .limit = 3600,
};
long follow_threads = 1; // the other processors are the trainer's

/* What several verbs take. */
#define THREADS_OPT(at)                            \
    {                                              \
        "threads", 0, OPT_WHOLE, at, 0, 1024, "N", \
            "threads to use; 0: all cores"         \
    }
#define LABELS_OPTS                                                         \
    {"labels", 0, OPT_TEXT, &given.labels[0],                               \
     0,        0, "FILE",   "labels of TRAIN, instead of those beside it"}, \
    {                                                                       \
        "test-labels", 0, OPT_TEXT, &given.labels[1], 0, 0, "FILE",         \
            "labels of TEST, instead of those beside it"                    \
    }
#define OUTPUT_OPTS                                                  \
    {"json", 0, OPT_FLAG, &given.json,                               \
     0,      0, NULL,     "print lines of JSON on a terminal, too"}, \
    {                                                                \
        "no-record", 0, OPT_FLAG, &given.no_record, 0, 0, NULL,      \
            "do not add the result to RUN/results.jsonl"             \
    }

const struct opt knn_opts[] = {
    {"neighbours", 'k', OPT_TEXT, &given.k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"metric", 0, OPT_WORD, &given.metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {"temperature", 0, OPT_REAL, &given.temperature, 1e-3, 1e3, "X",
     "a weighted vote counts exp(cosine / X)"},
    LABELS_OPTS,
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

const struct opt neighbours_opts[] = {
    {"neighbours", 'k', OPT_WHOLE, &given.nearest, 1, 65536, "K",
     "how many of each row"},
    {"metric", 0, OPT_WORD, &given.metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    THREADS_OPT(&given.threads),
    {0},
};

const struct opt probe_opts[] = {
    {"protocol", 0, OPT_WORD, &given.protocol, 0, 0,
     "lbfgs|emc2|isogclr|sogclr", "how the classifier is trained"},
    {"l2", 0, OPT_REAL, &given.l2, 0, 1e6, "X",
     "lbfgs: penalty; 0: chosen on held-out rows"},
    {"held-out", 0, OPT_REAL, &given.held_out, 0.001, 0.9, "SHARE",
     "lbfgs: share of the rows of TRAIN that are held out"},
    {"iterations", 0, OPT_WHOLE, &given.iterations, 1, 1e6, "N",
     "lbfgs: most iterations of a fit"},
    {"tolerance", 0, OPT_REAL, &given.tolerance, 1e-9, 1, "X",
     "lbfgs: a fit ends when no derivative is larger"},
    {"seed", 's', OPT_WHOLE, &given.seed, 0, 1e15, "N",
     "seed of held-out rows and of SGD"},
    LABELS_OPTS,
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

const struct opt geometry_opts[] = {
    {"rows", 0, OPT_WHOLE, &given.rows, 2, 1e9, "N",
     "most rows; of more, N are drawn"},
    {"seed", 's', OPT_WHOLE, &given.seed, 0, 1e15, "N", "seed of that draw"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

const struct opt retrieve_opts[] = {
    {"metric", 0, OPT_WORD, &given.metric, 0, 0, "cosine|raw",
     "rank by cosines, or by plain products"},
    {"within", 0, OPT_TEXT, &given.within, 0, 0, "FILE",
     "group of each row: rank within groups only"},
    {"captions", 0, OPT_FLAG, &given.captions, 0, 0, NULL,
     "the rows of the second are captions, any number an image"},
    {"answers", 0, OPT_TEXT, &given.answers, 0, 0, "FILE",
     "with --captions: write the best answers to each query"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

long directions = 120; // of cca
const struct opt cca_opts[] = {
    {"components", 'k', OPT_WHOLE, &directions, 1, 65536, "N",
     "pairs of directions, at most"},
    {"principal", 0, OPT_WHOLE, &given.principal, 1, 65536, "N",
     "principal directions of each side, at most"},
    {"ridge", 0, OPT_REAL, &given.ridge, 0, 1e6, "X",
     "what is added to variances, in shares of their mean"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

const struct opt loss_opts[] = {
    {"tau", 0, OPT_REAL, &given.tau, 1e-3, 1e3, "X",
     "temperature; beta is 1 / X"},
    {"views", 0, OPT_WHOLE, &given.views, 2, 1000, "N",
     "fixed views of each image: the first N random ones"},
    {"recipe", 0, OPT_TEXT, &given.recipe, 0, 0, "SPEC",
     "augmentations of views, NAME[,FIELD=X]..."},
    {"seed", 's', OPT_WHOLE, &given.seed, 0, 1e15, "N",
     "seed of views, as in foil-augment"},
    {"average", 0, OPT_FLAG, &given.average, 0, 0, NULL,
     "of the mean of the weights, see foil-train --average"},
    {"batch", 'b', OPT_WHOLE, &given.batch, 1, 65536, "N",
     "rows that go through the encoder at a time"},
    {"max-pixels", 0, OPT_WHOLE, &given.max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

const struct opt pca_opts[] = {
    {"output", 'o', OPT_TEXT, &given.output, 0, 0, "FILE",
     "output, .npy; must be given"},
    {"coordinates", 0, OPT_TEXT, &given.coordinates, 0, 0, "FILE",
     "of the rows, too, as foil-train --rows reads them"},
    {"components", 'k', OPT_WHOLE, &given.components, 1, 65536, "N",
     "number of directions"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

const struct opt temperature_opts[] = {
    {"column", 0, OPT_TEXT, &given.column, 0, 0, "NAME",
     "name of the per-sample number"},
    {"extreme", 0, OPT_WHOLE, &given.extreme, 1, 1e9, "N",
     "size of the group of smallest, and of largest, numbers"},
    {"plot", 0, OPT_TEXT, &given.plot, 0, 0, "FILE",
     "draw it as PNG, and keep the script"},
    OUTPUT_OPTS,
    {0},
};

const struct opt follow_opts[] = {
    {"run", 'r', OPT_TEXT, &given.run, 0, 0, "RUN",
     "run directory, whose checkpoints are judged; must be given"},
    {"events", 0, OPT_TEXT, &given.events, 0, 0, "ENDPOINT",
     "where the trainer publishes events; else in RUN"},
    {"neighbours", 'k', OPT_TEXT, &given.k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"best", 0, OPT_WORD, &given.best, 0, 0, "knn|probe|captions|command",
     "by what RUN/best is the best; else the first that there is"},
    {"judge-command", 0, OPT_TEXT, &given.command, 0, 0, "COMMAND",
     "a program of yours that judges, too"},
    {"command-limit", 0, OPT_REAL, &given.limit, 0.1, 1e6, "SECONDS",
     "time it has for a checkpoint"},
    {"once", 0, OPT_FLAG, &given.once, 0, 0, NULL,
     "judge the checkpoints that there are, and end"},
    THREADS_OPT(&follow_threads),
    WIRE_KEYS_OPT(&given.keys),
    WIRE_ALLOW_OPT(&given.allow),
    {0},
};

const struct opt zero_shot_opts[] = {
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};
