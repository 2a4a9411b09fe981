#ifndef FOIL_TRAIN_FEATURES_H
#define FOIL_TRAIN_FEATURES_H

#include "options.h"
#include "train/config.h"
#include "train/history.h"
#include "train/journal.h"
#include "wire/plan.h"

/*
 * Features of past epochs, for selectors that ask, and what selectors say of
 * their plans.  Without --keep-features all of it does nothing.
 */
struct train_features {
    /* of other objects; to be set first */
    const struct train_options *options;
    const struct train_shape *shape;
    const struct train_state *state;
    const int64_t *session;
    const struct train_history *history;
    struct train_journal *journal;

    struct flow_server *server; /* NULL until it is opened */
    size_t most;                /* rows of an answer */
    int64_t *ids;
    float *z;
    uint16_t *half;           /* of z */
    struct wire_plan plan[2]; /* that a selector told of, epoch e at e % 2: this
                                 one's and the next one's; id 0: none */
};

int train_features_open(struct train_features *features, struct stage *stage,
                        struct err *err);
void train_features_close(struct train_features *features);

/* train_features_serve() answers what was asked meanwhile. */
void train_features_serve(struct train_features *features);

/* train_features_plan() returns 1 with what a selector said of an epoch. */
int train_features_plan(const struct train_features *features, int64_t epoch,
                        struct train_plan *plan);

#endif
