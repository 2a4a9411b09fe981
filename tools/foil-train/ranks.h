#ifndef FOIL_TRAIN_RANKS_H
#define FOIL_TRAIN_RANKS_H

#include "options.h"
#include "ranks/ranks.h"
#include "spec.h"
#include "train/encoder.h"

/*
 * Ranks of a trainer, foil-ranks(7).  Rank 0 is the trainer, the others compute
 * a share of its encoders and know nothing else of the run: no directory, no
 * socket.
 */

/*
 * train_ranks_hush() keeps all but the first of several ranks from saying what
 * each of them would, such as --help or that an option is wrong, and from
 * ending before the first one has said so; until train_ranks_speak().
 */
void train_ranks_hush(void);
void train_ranks_speak(void);

/*
 * train_ranks_join() sets *ranks to those that a launcher such as mpirun
 * started together with us, or to NULL where we are alone.  -1 where this
 * program cannot be one of several.  After stop_fd(), for it may start threads.
 *   deadline  seconds after which rank 0 gives a rank up that it waits for
 * train_ranks_leave() ends it, in all ranks; harmless where we are alone.
 *
 * mpi.c has both for foil-train-mpi, alone.c for foil-train.
 */
int train_ranks_join(const struct ranks **ranks, double deadline,
                     struct err *err);
void train_ranks_leave(void);

/*
 * train_ranks_agree() refuses in rank 0, with a sentence, where a rank has
 * another text of so many lines; the others return 0.  Called by all.
 *   text  lines
 */
int train_ranks_agree(const struct ranks *ranks, const char *text,
                      struct err *err);

/* train_ranks_start() says by these lines what all ranks have to have in common
 * before the first step. */
char *train_ranks_start(const struct train_options *o, char **argv);

/*
 * train_ranks_lead() has all ranks open the encoders of these options, to be
 * followed by train_ranks_agree() on their tables; in rank 0.
 * train_ranks_follow() does the share of another rank, to the end.
 *   size  of the vocabulary; 0: there are no texts
 */
struct train_ranks_run {
    struct train_shape shape;
    size_t size;
};

void train_ranks_lead(const struct ranks *ranks,
                      const struct train_ranks_run *run);
int train_ranks_follow(const struct ranks *ranks, struct train_options *o,
                       struct err *err);

/* train_ranks_table() returns the tables of one or two encoders as lines. */
char *train_ranks_table(const struct train_encoder *encoder,
                        const struct train_encoder *text);

#endif
