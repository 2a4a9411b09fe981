#ifndef FOIL_TRAIN_H
#define FOIL_TRAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "desk.h"
#include "drawn.h"
#include "features.h"
#include "flow/inlet.h"
#include "given.h"
#include "negatives.h"
#include "options.h"
#include "ranks.h"
#include "run/batches.h"
#include "run/results.h"
#include "run/stages.h"
#include "spec.h"
#include "texts.h"
#include "train/checkpoints.h"
#include "train/process.h"
#include "wire/batch.h"
#include "wire/feed.h"

/*
 * The parts of foil-train, one file each:
 *
 *   options.c    the command line, and what of it a checkpoint remembers
 *   spec.c       what options make of encoder, optimiser and schedules
 *   given.c      what files give to an encoder that begins
 *   texts.c      the vocabulary of captions, and those of a batch
 *   begin.c      a run that begins, or goes on: all objects, in their order
 *   encoders.c   the encoders, computed here or by a program
 *   ranks.c      other processes that compute a share of them
 *   alone.c      that there are none, in foil-train
 *   mpi.c        that MPI has them, in foil-train-mpi
 *   lock.c       one trainer for a run directory
 *   session.c    the number by which others know a newer trainer
 *   cost.c       what a run will take, before it takes it
 *   source.c     batches from augmenters, in the order of the plan
 *   plan.c       by which plan an epoch is trained
 *   desk.c       who is at the sockets while a step computes
 *   step.c       one step, and what is done about what became of it
 *   negatives.c  weights from the negatives service
 *   drawn.c      the heaviest negatives, for those who follow them
 *   features.c   features of past epochs, for selectors that ask
 *   save.c       what checkpoints are made of
 *   report.c     what happens, printed and published
 *   status.c     how the stages are, published
 *   tell.c       what there is, and what a run would need, without training
 */

/* Where batches come from. */
struct train_source {
    struct flow_inlet *inlet;
    size_t largest;               /* bytes of a batch, so far */
    struct stage_waiting waiting; /* for the next batch */
    double over; /* since when all say that nothing is left; or 0 */
};

/* All objects of a trainer, in the order of their use: each knows those above
 * it. */
struct train {
    struct train_options *options;
    const struct ranks *ranks; /* of which we are 0; NULL: we are alone */
    json_t *config; /* of the checkpoint that was resumed; options point here */
    const struct loss_objective *objective;
    struct train_shape shape;
    struct train_state state; /* a step moves it on */
    struct train_state stood; /* as it was before the step that computes */
    int64_t session;
    int trained; /* since we started: at least one step */

    struct train_journal journal;
    struct run_batches batches;
    struct tally unkept; /* steps whose batch could not be written down */
    char making[1024];   /* what an augmenter said last of how it makes views */
    struct train_samples samples;
    struct train_history history;
    struct train_program *program; /* of the encoders; NULL: they are ours */
    struct train_encoder encoder;
    struct train_texts texts;
    struct train_encoder text_encoder; /* with --text */
    struct train_scalars scalars;      /* of the objective */
    struct train_basis basis;          /* until the encoder has it */

    struct stage stage;
    struct train_desk desk;
    struct wire_feed *feed;
    double told;              /* when it was told last how stages are */
    struct run_stages stages; /* as it was told then */
    struct run_lines results; /* those that were added are published */
    struct train_source source;
    struct wire_batch
        left; /* a trained one, until there is time to release it */
    struct train_features features;
    struct train_service service;
    struct train_inside inside; /* instead, with --sampler trainer */

    struct train_drawn drawn;
    struct train_negatives negatives; /* one of these two, by way of drawn */
    int64_t *labels; /* of all samples; NULL: nobody asks for them */
    struct train_learner learner;
    void (*meanwhile)(void *train); /* train_meanwhile() */
    struct train_checkpoints checkpoints;
};

/*
 * source.c: train_source_next() returns 1 with the next batch of the plan, 0 at
 * its end or when asked to stop, -1 when it is given up.  train_source_serve()
 * takes what has come meanwhile, greets and answers, and waits for nothing.
 * train_source_find() returns the batch of a later place, where it has come.
 * train_at() is the place of the first step that is not done.
 * train_source_restart() begins a new session: no batch of the old one counts.
 * train_views_wanted() is the number of views of each image in a batch.
 */
int train_source_open(struct train *t, struct err *err);
int train_source_next(struct train *t, struct wire_batch *batch,
                      struct err *err);
void train_source_serve(struct train *t);
struct wire_place train_at(const struct train *t);
const struct wire_batch *train_source_find(const struct train *t,
                                           const struct wire_place *at);
void train_source_restart(struct train *t);
void train_source_close(struct train *t);
size_t train_views_wanted(const struct train_options *options);

/*
 * plan.c: train_plan_fits() returns 1 where a batch begins an epoch, is in the
 * order that the running epoch began with, or one of them names none.
 * train_plan_note() notes the plan of a batch that will be trained, and says
 * when it is another one.  train_plan_change() ends the epoch before a batch
 * that does not fit, which would train samples of it again and leave others
 * out: the next epoch begins in a new session.
 */
int train_plan_fits(const struct train *t, const struct wire_batch *batch);
void train_plan_note(struct train *t, const struct wire_batch *batch);
int train_plan_change(struct train *t, const struct wire_batch *batch,
                      struct err *err);

/*
 * begin.c: train_wire_up() tells each object whom it needs; it comes first.
 * train_begin() takes the run directory, and what its newest checkpoint says,
 * or nothing.  train_meet() makes at the first batch what waits for its shape:
 * encoder, samples, history, learner.  train_ask_service() connects to the
 * negatives service, where it is asked and not there yet.  train_stand() is
 * train_begin() without a trace in the directory.
 */
void train_wire_up(struct train *t);
int train_begin(struct train *t, struct err *err);
int train_meet(struct train *t, const struct wire_batch *batch,
               struct err *err);
int train_ask_service(struct train *t, struct err *err);
int train_stand(struct train *t, struct err *err);

/*
 * encoders.c: train_encoders_open() builds them.
 * train_encoders_words() returns a copy of argv, before it is parsed, with
 * --resume; train_encoders_resume() begins this process
 * anew by it, from the last checkpoint, and returns only where that would not
 * help.
 */
char **train_encoders_words(char **argv);
int train_encoders_open(struct train *t, struct err *err);
void train_encoders_resume(struct train *t, char **words,
                           const struct err *why);
void train_encoders_close(struct train *t);

/* cost.c: train_cost_tell() says how much memory and time so many steps will
 * take, with batches as the first one, where that is gigabytes or hours. */
void train_cost_tell(const struct train *t, const struct wire_batch *batch,
                     double steps);

/* lock.c: one trainer writes a run directory; the lock goes with the process.
 * train_check_free() refuses one in which somebody trains. */
int train_lock(const char *run, struct err *err);
int train_check_free(const char *run, struct err *err);

/* session.c: train_session() takes one above that of the run so far, and keeps
 * it in the run directory. */
int train_session(struct train *t, struct err *err);

/*
 * step.c: train_step() trains a batch, or only encodes it, and reports it.
 * Returns 1 when that is over, 0 when asked to stop within it.  train_leave()
 * releases the batch; but where a program computes the encoder, while it does:
 * to release a large one takes milliseconds, in which the program would wait.
 * train_meanwhile() is called with the trainer while a program computes, or
 * before ranks do: these are told which batch comes next.
 */
int train_step(struct train *t, const struct wire_batch *batch,
               struct err *err);
void train_leave(struct train *t, struct wire_batch *batch);
void train_meanwhile(void *train);

/* save.c: what checkpoints are made of.  train_save_open() lists it.
 * train_tidy() says what cannot be done. */
void train_save_open(struct train *t);
void train_tidy(struct train *t);
int train_save(struct train *t, struct err *err);

/* train_save_if_due() says when it fails; the next one that is due tries
 * again. */
void train_save_if_due(struct train *t);

/*
 * tell.c: train_tell() prints all objectives, a line of JSON each (--list); or
 * what the run of the options needs and where it is, as a line of JSON
 * (--dry-run), and dies where it cannot begin, or go on.
 */
void train_tell(struct train *t);

/* status.c: train_status_tell() publishes how we are and those who feed us,
 * once a second; `waits`: for so many seconds, for the next batch.
 * train_status_keep() does so at the end, and leaves it in RUN/stages.json. */
void train_status_tell(struct train *t, double waits);
void train_status_keep(struct train *t);

/* report.c: what the journal tells, printed and published.
 * train_report_init() lets sentences be said.  A step has a batch as it came,
 * which is written down, and as the library knows it. */
void train_report_init(struct train *t);
int train_report_open(struct train *t, struct err *err);
void train_report_step(struct train *t, const struct wire_batch *from,
                       const struct batch *batch,
                       const struct train_result *result);
void train_report_event(struct train *t, const char *what, const char *path,
                        const char *reason);
void train_report_features(struct train *t, const struct batch *batch);

#endif
