#ifndef FOIL_TRAIN_NEGATIVES_H
#define FOIL_TRAIN_NEGATIVES_H

#include "desk.h"
#include "flow/handover.h"
#include "flow/service.h"
#include "options.h"
#include "train/config.h"
#include "train/journal.h"
#include "wire/batch.h"
#include "wire/weights.h"

/*
 * Weights from the negatives service, foil-negatives(1).  A service that was
 * started again is given back the tables that we keep for it; --policy in-batch
 * lets steps go on without one.
 */
struct train_service {
    /* of other objects; to be set first */
    const struct train_options *options;
    const struct train_shape *shape;
    const struct train_state *state;
    const int64_t *session;
    struct train_samples *samples;
    struct train_journal *journal;
    struct train_desk
        *desk; /* left to the other thread while a step computes */
    int stop;  /* descriptor, as wire_wait() */

    struct flow_service *service; /* NULL until it is opened */
    struct wire_weights answer;   /* the last */
    float *in_batch;              /* weights of a batch without the service */
    size_t in_batch_room;
    struct flow_keeper keeper;
    uint64_t greetings; /* of the service, when it was met last */
    double again;       /* --policy in-batch: not asked before then */
};

/* train_service_open() connects, once the shape is known.
 *   run    its name, as augmenters say it
 *   width  of an embedding, or 0: not known yet */
int train_service_open(struct train_service *service, struct stage *stage,
                       const char *run, size_t width, struct err *err);
void train_service_close(struct train_service *service);

/* train_service_negatives() returns it as a learner knows it; it may be opened
 * later. */
struct train_negatives train_service_negatives(struct train_service *service);

/* train_service_greet() lets the service say no before there is anything to
 * weigh: 0, or -1 when it does. */
int train_service_greet(struct train_service *service, struct err *err);

/*
 * train_service_meet() hands its tables to a service that was started again, or
 * is connected again, since it may have begun another session; and asks for
 * nothing yet, since a filter lets no item pass without: 0, or -1 when it
 * refuses.
 */
int train_service_meet(struct train_service *service, struct err *err);

#endif
