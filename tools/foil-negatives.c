/*
 * foil-negatives chooses and weighs the negatives of each row of a batch: a
 * service for the trainer, and a filter between selector and augmenters that
 * adds samples from outside of the batch to items.
 */
#include "foil-negatives/negatives.h"
#include "num/threads.h"

static struct sampler sampler;
static struct service service = {.sampler = &sampler};
static struct filter filter = {.sampler = &sampler};

/* The turn of a stage with --filter. */
static int
turn_both(void *self)
{
    service_turn(&service);
    filter_turn(self);
    return 1;
}

int
main(int argc, char **argv)
{
    static const struct stage_handlers alone = {.turn = service_turn},
                                       both = {filter_pause, turn_both,
                                               filter_waits};
    const struct negatives_options *o = negatives_options_get(argc, argv);
    struct stage stage;

    // normal priority, unlike other stages: the trainer waits for the answer
    num_threads(1);
    sampler_init(&sampler);
    stage_open(&stage, &o->stage);
    service_open(&service, o, &stage);
    if (o->command)
        sampler.weigher = weigher_open(o, stage.stop);
    if (o->filter) {
        filter_open(&filter, o, &stage);
        stage_run(&stage, &both, &filter);
        filter_close(&filter);
    } else {
        stage_run(&stage, &alone, &service);
    }
    log_stopped();
    flow_server_close(service.server);
    weigher_close(sampler.weigher);
    sampler_release(&sampler);
    stage_close(&stage);
    return EXIT_OK;
}
