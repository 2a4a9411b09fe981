#ifndef TRAIN_EMBED_H
#define TRAIN_EMBED_H

#include "train/learner.h"

/* A batch through the encoders of a learner, and its gradient back. */

/* train_learner_embed() fills in z and v of all rows; NN_TRAIN where
 * train_learner_back() follows. */
int train_learner_embed(struct train_learner *learner,
                        const struct batch *batch, enum nn_mode mode,
                        struct err *err);

/* train_learner_finite() returns 1 when all of z is. */
int train_learner_finite(const struct train_learner *learner,
                         const struct batch *batch);

/* train_learner_back() takes dz to the gradient of each encoder; *length is
 * that of all together. */
int train_learner_back(struct train_learner *learner, const struct batch *batch,
                       double *length, struct err *err);

#endif
