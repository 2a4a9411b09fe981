#pragma once

#include "options.h"
#include "ranks/ranks.h"

/* Ranks of a trainer, foil-ranks(7).  Rank 0 is the trainer; the others compute
 * a part of its encoders and have neither directory nor socket. */

/* train_ranks_silence() silences all ranks except rank 0 until
 * train_ranks_unsilence(), so that --help or an error is printed once.  A
 * silenced rank that exits waits for rank 0's message. */
void train_ranks_silence(void);
void train_ranks_unsilence(void);

/*
 * train_ranks_join() sets *ranks to the ranks that a launcher such as mpirun
 * started together, or to NULL if there is only one.  It returns -1 if this
 * program does not support ranks.  Call it after stop_fd(), as it may start
 * threads.
 *   deadline  seconds that rank 0 waits for a rank before it gives up
 * train_ranks_leave() ends MPI in all ranks; without ranks it does nothing.
 *
 * mpi.c implements them for foil-train-mpi, alone.c for foil-train.
 */
int train_ranks_join(const struct ranks **ranks, double deadline,
                     struct err *err);
void train_ranks_leave(void);

/*
 * train_ranks_agree() is called by all ranks.  On rank 0 it returns -1 with a
 * message if a rank has another text; the others return 0.
 *   text  lines
 */
int train_ranks_agree(const struct ranks *ranks, const char *text,
                      struct err *err);

/* train_ranks_start() returns the lines that must be equal in all ranks before
 * the first step. */
char *train_ranks_start(const struct train_options *o, char **argv);

/* train_ranks_lead() is called on rank 0: all ranks open the encoders of these
 * options; call train_ranks_agree() on their tables next. train_ranks_follow()
 * does the work of another rank until the run ends. */
void train_ranks_lead(const struct ranks *ranks,
                      const struct train_shape *shape);
int train_ranks_follow(const struct ranks *ranks, struct train_options *o,
                       struct err *err);

/* train_ranks_table() returns the tables of one or two encoders as lines. */
char *train_ranks_table(const struct train_encoder *encoder,
                        const struct train_encoder *text);
