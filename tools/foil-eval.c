#include <stdio.h>

#include "data/jpeg.h"
#include "foil-eval/eval.h"
#include "num/threads.h"
#include "util/opt.h"
#include "util/priority.h"
#include "wire/keys.h"

static struct options options = {
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
    .best = "knn",
    .principal = 500,
    .ridge = 0.1,
};
static long follow_threads = 1; // the other processors are the trainer's

/* What each verb takes. */
#define OUTPUT_OPTS                                                  \
    {"json", 0, OPT_FLAG, &options.json,                             \
     0,      0, NULL,     "print lines of JSON on a terminal, too"}, \
    {                                                                \
        "no-record", 0, OPT_FLAG, &options.no_record, 0, 0, NULL,    \
            "do not add the result to RUN/results.jsonl"             \
    }

static const struct opt knn_opts[] = {
    {"neighbours", 'k', OPT_TEXT, &options.k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"metric", 0, OPT_WORD, &options.metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {"temperature", 0, OPT_REAL, &options.temperature, 1e-3, 1e3, "X",
     "a weighted vote counts exp(cosine / X)"},
    {"labels", 0, OPT_TEXT, &options.labels, 0, 0, "FILE",
     "labels of TRAIN, instead of those beside it"},
    {"test-labels", 0, OPT_TEXT, &options.test_labels, 0, 0, "FILE",
     "labels of TEST, instead of those beside it"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt probe_opts[] = {
    {"protocol", 0, OPT_WORD, &options.protocol, 0, 0,
     "lbfgs|emc2|isogclr|sogclr", "how the classifier is trained"},
    {"l2", 0, OPT_REAL, &options.l2, 0, 1e6, "X",
     "lbfgs: penalty; 0: chosen on held-out rows"},
    {"held-out", 0, OPT_REAL, &options.held_out, 0.001, 0.9, "SHARE",
     "lbfgs: share of the rows of TRAIN that are held out"},
    {"iterations", 0, OPT_WHOLE, &options.iterations, 1, 1e6, "N",
     "lbfgs: most iterations of a fit"},
    {"tolerance", 0, OPT_REAL, &options.tolerance, 1e-9, 1, "X",
     "lbfgs: a fit ends when no derivative is larger"},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N",
     "seed of held-out rows and of SGD"},
    {"labels", 0, OPT_TEXT, &options.labels, 0, 0, "FILE",
     "labels of TRAIN, instead of those beside it"},
    {"test-labels", 0, OPT_TEXT, &options.test_labels, 0, 0, "FILE",
     "labels of TEST, instead of those beside it"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt geometry_opts[] = {
    {"rows", 0, OPT_WHOLE, &options.rows, 2, 1e9, "N",
     "most rows; of more, N are drawn"},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N", "seed of that draw"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt retrieve_opts[] = {
    {"metric", 0, OPT_WORD, &options.metric, 0, 0, "cosine|raw",
     "rank by cosines, or by plain products"},
    {"within", 0, OPT_TEXT, &options.within, 0, 0, "FILE",
     "group of each row: rank within groups only"},
    {"captions", 0, OPT_FLAG, &options.captions, 0, 0, NULL,
     "the rows of the second are captions, any number an image"},
    {"answers", 0, OPT_TEXT, &options.answers, 0, 0, "FILE",
     "with --captions: write the best answers to each query"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static long directions = 120; // of cca
static const struct opt cca_opts[] = {
    {"components", 'k', OPT_WHOLE, &directions, 1, 65536, "N",
     "pairs of directions, at most"},
    {"principal", 0, OPT_WHOLE, &options.principal, 1, 65536, "N",
     "principal directions of each side, at most"},
    {"ridge", 0, OPT_REAL, &options.ridge, 0, 1e6, "X",
     "what is added to variances, in shares of their mean"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt loss_opts[] = {
    {"tau", 0, OPT_REAL, &options.tau, 1e-3, 1e3, "X",
     "temperature; beta is 1 / X"},
    {"views", 0, OPT_WHOLE, &options.views, 2, 1000, "N",
     "fixed views of each image: the first N random ones"},
    {"recipe", 0, OPT_TEXT, &options.recipe, 0, 0, "SPEC",
     "augmentations of views, NAME[,FIELD=X]..."},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N",
     "seed of views, as in foil-augment"},
    {"batch", 'b', OPT_WHOLE, &options.batch, 1, 65536, "N",
     "rows that go through the encoder at a time"},
    {"max-pixels", 0, OPT_WHOLE, &options.max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt pca_opts[] = {
    {"output", 'o', OPT_TEXT, &options.output, 0, 0, "FILE",
     "output, .npy; must be given"},
    {"components", 'k', OPT_WHOLE, &options.components, 1, 65536, "N",
     "number of directions"},
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt temperature_opts[] = {
    {"column", 0, OPT_TEXT, &options.column, 0, 0, "NAME",
     "name of the per-sample number"},
    {"extreme", 0, OPT_WHOLE, &options.extreme, 1, 1e9, "N",
     "size of the group of smallest, and of largest, numbers"},
    {"plot", 0, OPT_TEXT, &options.plot, 0, 0, "FILE",
     "draw it as PNG, and keep the script"},
    OUTPUT_OPTS,
    {0},
};

static const struct opt follow_opts[] = {
    {"run", 'r', OPT_TEXT, &options.run, 0, 0, "RUN",
     "run directory, whose checkpoints are judged; must be given"},
    {"events", 0, OPT_TEXT, &options.events, 0, 0, "ENDPOINT",
     "where the trainer publishes events; else in RUN"},
    {"neighbours", 'k', OPT_TEXT, &options.k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"best", 0, OPT_WORD, &options.best, 0, 0, "knn|probe",
     "by which accuracy RUN/best is the best"},
    {"once", 0, OPT_FLAG, &options.once, 0, 0, NULL,
     "judge the checkpoints that there are, and end"},
    {"threads", 0, OPT_WHOLE, &follow_threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    WIRE_KEYS_OPT(&options.keys),
    WIRE_ALLOW_OPT(&options.allow),
    {0},
};

static const struct opt zero_shot_opts[] = {
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    OUTPUT_OPTS,
    {0},
};

enum verb {
    KNN,
    PROBE,
    ZERO_SHOT,
    GEOMETRY,
    RETRIEVE,
    CCA,
    LOSS,
    PCA,
    TEMPERATURE,
    FOLLOW
};

static const struct opt_tool verbs[] = {
    [KNN] = {"foil-eval knn", "classify by nearest neighbours", "TRAIN [TEST]",
             1, 2, knn_opts},
    [PROBE] = {"foil-eval probe", "classify by a linear classifier",
               "TRAIN TEST", 2, 2, probe_opts},
    [ZERO_SHOT] = {"foil-eval zero-shot", "classify by the texts of classes",
                   "IMAGES CLASSES", 2, 2, zero_shot_opts},
    [GEOMETRY] = {"foil-eval geometry",
                  "measure how features are distributed on the sphere",
                  "VIEW [VIEW]", 1, 2, geometry_opts},
    [RETRIEVE] = {"foil-eval retrieve",
                  "rank the other view of each image among all images",
                  "VIEW VIEW", 2, 2, retrieve_opts},
    [CCA] = {"foil-eval cca",
             "match images and captions by canonical correlations",
             "IMAGES CAPTIONS NEW-IMAGES NEW-CAPTIONS", 4, 4, cca_opts},
    [LOSS] = {"foil-eval loss",
              "compute the contrastive loss of a whole set, and its gradient",
              "CHECKPOINT DATA", 2, 2, loss_opts},
    [PCA] = {"foil-eval pca",
             "find the directions along which rows differ most", "FEATURES ...",
             1, 1 << 20, pca_opts},
    [TEMPERATURE] = {"foil-eval temperature",
                     "analyse a number learned for each sample, by class",
                     "CHECKPOINT DATA", 2, 2, temperature_opts},
    [FOLLOW] = {"foil-eval follow",
                "judge each checkpoint of a run as it comes", "TRAIN TEST", 2,
                2, follow_opts},
    {0},
};

static const struct opt_tool tool = {
    .name = "foil-eval", .summary = "measure how good features are"};

static void
retrieve(const struct options *chosen, char **operand)
{
    if (chosen->answers && !chosen->captions)
        opt_misuse("--answers is for --captions");
    if (chosen->captions)
        run_captions(chosen, operand);
    else
        run_retrieve(chosen, operand);
}

int
main(int argc, char **argv)
{
    static void (*const run[])(const struct options *, char **) = {
        [KNN] = run_knn,
        [PROBE] = run_probe,
        [ZERO_SHOT] = run_zero_shot,
        [GEOMETRY] = run_geometry,
        [RETRIEVE] = retrieve,
        [CCA] = run_cca,
        [LOSS] = run_loss,
        [PCA] = run_pca,
        [TEMPERATURE] = run_temperature,
        [FOLLOW] = run_follow,
    };
    char **operand;
    enum verb verb;

    num_threads_sleep(argv);
    verb = (enum verb)(opt_verb(&tool, verbs, argc, argv, &operand) - verbs);
    priority_low();
    if (verb == FOLLOW) { // has checkpoints judged, and computes nothing
        options.threads = follow_threads;
    } else {
        end_when_stopped();
        options.threads = num_threads((int)options.threads);
    }
    if (verb == CCA)
        options.components = directions;
    print_begin(&options);
    run[verb](&options, operand);
    print_end();
    close_stdout();
    return EXIT_OK;
}
