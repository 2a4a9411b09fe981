#ifndef TRAIN_EMBED_H
#define TRAIN_EMBED_H

#include "train/learner.h"

/* Forward and backward of a batch through the encoders of a learner. */

/* train_learner_embed() computes z and v of all rows; NN_TRAIN if
 * train_learner_backward() follows. */
int train_learner_embed(struct train_learner *learner,
                        const struct batch *batch, enum nn_mode mode,
                        struct err *err);

/* train_learner_finite() returns 1 if all of z is finite. */
int train_learner_finite(const struct train_learner *learner,
                         const struct batch *batch);

/* train_learner_backward() computes the gradient of each encoder from dz;
 * *length is that of all together. */
int train_learner_backward(struct train_learner *learner,
                           const struct batch *batch, double *length,
                           struct err *err);

#endif
