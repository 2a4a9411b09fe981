/*
 * foil-negatives says which negatives a row of a batch meets, and with which
 * weight: a service of the trainer, and a filter between selector and
 * augmenters that lets samples from outside of the batch come along.
 */
#include <stdlib.h>

#include "foil-negatives/negatives.h"
#include "num/threads.h"
#include "util/opt.h"
#include "util/stop.h"

static struct sampler sampler;

static int
serve_run(struct service *service, struct filter *filter, struct wire *wire,
          int stop, struct err *err)
{
    int rc;

    while ((rc = wire_wait(wire, stop, filter ? filter_patience(filter) : 1,
                           err)) > 0) {
        service_turn(service);
        if (filter)
            filter_turn(filter);
    }
    return rc;
}

int
main(int argc, char **argv)
{
    const struct negatives_options *o = negatives_options_get(argc, argv);
    struct service service = {.options = o, .sampler = &sampler};
    struct filter filter = {.options = o, .sampler = &sampler};
    struct wire_keys keys = {0};
    struct wire *wire;
    struct err err;
    int stop, rc;

    // no lower priority, unlike other stages: the trainer waits for us
    num_threads(1);
    sampler_init(&sampler);
    stop = stop_fd(&err);
    if (stop < 0 || (o->keys && wire_keys_open(&keys, o->keys, o->allow, &err)))
        die("%s", err.msg);
    wire = wire_open(o->keys ? &keys : NULL, &err);
    if (!wire)
        die("%s", err.msg);
    service_open(&service, wire);
    if (o->command)
        sampler.weigher = weigher_open(o, stop);
    if (o->filter)
        filter_open(&filter, wire);

    rc = serve_run(&service, o->filter ? &filter : NULL, wire, stop, &err);
    say_stopped();
    if (rc < 0)
        die("%s", err.msg);
    if (o->filter) {
        filter_part(&filter);
        filter_close(&filter);
    }
    flow_server_close(service.server);
    weigher_close(sampler.weigher);
    sampler_release(&sampler);
    wire_close(wire);
    wire_keys_release(&keys);
    return EXIT_OK;
}
