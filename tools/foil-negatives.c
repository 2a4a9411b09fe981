/* foil-negatives chooses and weighs the negatives of each row of a batch: a
 * service for the trainer, and a filter between selector and augmenters that
 * adds samples from outside of the batch to items. */
#include "foil-negatives/negatives.h"
#include "num/threads.h"

static struct sampler sampler;
static struct filter filter = {.sampler = &sampler};

/* One pass of the loop of a stage with --filter. */
static int
serve_both(void *self)
{
    sampler_turn(&sampler);
    filter_turn(self);
    return 1;
}

int
main(int argc, char **argv)
{
    static const struct stage_handlers alone = {.turn = sampler_turn},
                                       both = {filter_pause, serve_both,
                                               filter_waits};
    const struct negatives_options *o = negatives_options_get(argc, argv);
    struct stage stage;

    // normal priority, unlike other stages: the trainer waits for the answer
    num_threads(1);
    stage_open(&stage, &o->stage);
    sampler_open(&sampler, o, &stage);
    if (o->command)
        sampler.weigher = weigher_open(o, stage.stop);
    if (o->filter) {
        filter_open(&filter, o, &stage);
        stage_run(&stage, &both, &filter);
        filter_close(&filter);
    } else {
        stage_run(&stage, &alone, &sampler);
    }
    log_stopped();
    sampler_release(&sampler);
    stage_close(&stage);
    return EXIT_OK;
}
