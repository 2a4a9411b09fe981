#include "foil-eval/instrument.h"
#include "num/room.h"
#include "num/threads.h"
#include "util/opt.h"
#include "util/priority.h"

NUM_ROOM_FIRST

enum verb {
    KNN,
    NEIGHBOURS,
    PROBE,
    ZERO_SHOT,
    GEOMETRY,
    RETRIEVE,
    CCA,
    LOSS,
    PCA,
    MAP,
    TEMPERATURE,
    ANCHORS,
    BIAS,
    FALSE_NEGATIVES,
    PLAN,
    CHAINS,
    FOLLOW
};

static const struct opt_tool verbs[] = {
    [KNN] = {"foil-eval knn", "classify by nearest neighbours", "TRAIN [TEST]",
             1, 2, knn_opts},
    [NEIGHBOURS] = {"foil-eval neighbours",
                    "list the nearest neighbours of each row", "TRAIN [TEST]",
                    1, 2, neighbours_opts},
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
    [MAP] = {"foil-eval map", "lay rows out on a plane, near ones together",
             "FEATURES ...", 1, 1000, map_opts},
    [TEMPERATURE] = {"foil-eval temperature",
                     "analyse a number learned for each sample, by class",
                     "CHECKPOINT DATA", 2, 2, temperature_opts},
    [ANCHORS] = {"foil-eval anchors",
                 "measure temperature, hardness and softmax of single rows",
                 INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, anchors_opts},
    [BIAS] = {"foil-eval bias",
              "compare the expected gradient of a method with the exact one",
              INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, bias_opts},
    [FALSE_NEGATIVES] = {"foil-eval false-negatives",
                         "measure the weight on negatives of the own class",
                         INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST,
                         false_negatives_opts},
    [PLAN] = {"foil-eval plan",
              "measure which pairs the batches of a plan show",
              INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, plan_opts},
    [CHAINS] = {"foil-eval chains",
                "measure how Markov chains of negatives mix",
                INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, chains_opts},
    [FOLLOW] = {"foil-eval follow",
                "judge each checkpoint of a run as it comes", "[TRAIN] [TEST]",
                0, 2, follow_opts},
    {0},
};

static const struct opt_tool tool = {
    .name = "foil-eval", .summary = "measure how good features are"};

int
main(int argc, char **argv)
{
    static void (*const run[])(char **) = {
        [KNN] = run_knn,
        [NEIGHBOURS] = run_neighbours,
        [PROBE] = run_probe,
        [ZERO_SHOT] = run_zero_shot,
        [GEOMETRY] = run_geometry,
        [RETRIEVE] = run_retrieve,
        [CCA] = run_cca,
        [LOSS] = run_loss,
        [PCA] = run_pca,
        [MAP] = run_map,
        [TEMPERATURE] = run_temperature,
        [ANCHORS] = run_anchors,
        [BIAS] = run_bias,
        [FALSE_NEGATIVES] = run_false_negatives,
        [PLAN] = run_plan,
        [CHAINS] = run_chains,
        [FOLLOW] = run_follow,
    };
    char **operand;
    enum verb verb;

    num_threads_sleep(argv);
    verb = (enum verb)(opt_verb(&tool, verbs, argc, argv, &operand) - verbs);
    if (verb == FOLLOW) { // has checkpoints judged, and computes nothing
        priority_lower(PRIORITY_SPARE);
    } else {
        end_when_stopped();
        given.threads = num_threads((int)given.threads);
    }
    print_begin();
    run[verb](operand);
    print_end();
    close_stdout();
    return EXIT_OK;
}
