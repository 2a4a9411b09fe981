#include "foil-eval/instrument.h"
#include "num/room.h"
#include "num/threads.h"
#include "util/limits.h"

NUM_ROOM_FIRST

static const struct {
    const char *name, *summary, *operands; // as of struct opt_tool
    int at_least, at_most;
    const struct opt *const *opts;
    verb_run *run;
} verbs[] = {
    {"foil-eval knn", "classify by nearest neighbours", "TRAIN [TEST]", 1, 2,
     knn_opts, run_knn},
    {"foil-eval neighbours", "list the nearest neighbours of each row",
     "TRAIN [TEST]", 1, 2, neighbours_opts, run_neighbours},
    {"foil-eval probe", "classify by a linear classifier", "TRAIN TEST", 2, 2,
     probe_opts, run_probe},
    {"foil-eval zero-shot", "classify by texts that describe classes",
     "IMAGES CLASSES", 2, 2, zero_shot_opts, run_zero_shot},
    {"foil-eval geometry", "measure how features are distributed on the sphere",
     "VIEW [VIEW]", 1, 2, geometry_opts, run_geometry},
    {"foil-eval retrieve", "rank the other view of each image among all images",
     "VIEW VIEW", 2, 2, retrieve_opts, run_retrieve},
    {"foil-eval cca", "match images and captions by canonical correlations",
     "IMAGES CAPTIONS NEW-IMAGES NEW-CAPTIONS", 4, 4, cca_opts, run_cca},
    {"foil-eval loss",
     "compute the contrastive loss of a whole set, and its gradient",
     "CHECKPOINT DATA", 2, 2, loss_opts, run_loss},
    {"foil-eval pca", "find the directions along which rows differ most",
     "FEATURES ...", 1, 1 << 20, pca_opts, run_pca},
    {"foil-eval map", "place rows on a plane, neighbours together",
     "FEATURES ...", 1, 1000, map_opts, run_map},
    {"foil-eval temperature",
     "analyse a number learned for each sample, by class", "CHECKPOINT DATA", 2,
     2, temperature_opts, run_temperature},
    {"foil-eval anchors",
     "measure temperature, hardness and softmax of single rows",
     INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, anchors_opts, run_anchors},
    {"foil-eval bias",
     "compare the expected gradient of a method with the exact one",
     INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, bias_opts, run_bias},
    {"foil-eval false-negatives",
     "measure the weight of negatives in the anchor's class",
     INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, false_negatives_opts,
     run_false_negatives},
    {"foil-eval plan", "measure which pairs share a batch of a plan",
     INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, plan_opts, run_plan},
    {"foil-eval chains", "measure how Markov chains of negatives mix",
     INSTRUMENT_OPERANDS, 1, INSTRUMENT_MOST, chains_opts, run_chains},
    {"foil-eval follow", "evaluate each checkpoint of a run as it appears",
     "[TRAIN] [TEST]", 0, 2, follow_opts, run_follow},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static const struct opt_tool tool = {
    .name = "foil-eval", .summary = "measure how good features are"};

int
main(int argc, char **argv)
{
    static struct opt opts[VERBS][OPT_MOST];
    static struct opt_tool tools[VERBS + 1];
    char **operand;
    verb_run *run;

    for (size_t i = 0; i < VERBS; i++) {
        for (size_t n = 0, g = 0; verbs[i].opts[g]; g++)
            n = opt_append(opts[i], n, verbs[i].opts[g]);
        tools[i] = (struct opt_tool){verbs[i].name,     verbs[i].summary,
                                     verbs[i].operands, verbs[i].at_least,
                                     verbs[i].at_most,  opts[i]};
    }
    num_threads_sleep(argv);
    run = verbs[opt_verb(&tool, tools, argc, argv, &operand) - tools].run;
    if (run == run_follow) { // other processes compute
        priority_lower(PRIORITY_IDLE);
    } else {
        end_when_stopped();
        common_options.threads = num_threads((int)common_options.threads);
    }
    run(operand);
    print_end();
    close_stdout();
    return EXIT_OK;
}
