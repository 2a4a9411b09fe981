#ifndef FOIL_TRAIN_H
#define FOIL_TRAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "drawn.h"
#include "flow/handover.h"
#include "flow/inlet.h"
#include "given.h"
#include "options.h"
#include "ranks.h"
#include "run/batches.h"
#include "run/results.h"
#include "run/stages.h"
#include "spec.h"
#include "stage/io_thread.h"
#include "texts.h"
#include "train/checkpoints.h"
#include "train/history.h"
#include "train/journal.h"
#include "train/process.h"
#include "wire/batch.h"
#include "wire/feed.h"
#include "wire/plan.h"
#include "wire/weights.h"

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
    size_t largest; /* bytes of a batch, so far */
    int is_idle;    /* 1: the next batch was asked for and has not come */
    double over;    /* when all augmenters began to send that nothing is left;
                     * 0: they do not */
};

/* Features of past epochs, for selectors that ask for them, and what selectors
 * send of their plans. */
struct train_features {
    struct flow_server *server; /* NULL: without --keep-features */
    size_t most;                /* rows of an answer */
    int64_t *ids;
    float *z;
    uint16_t *half;           /* of z */
    struct wire_plan plan[2]; /* of epoch e at e % 2: of this one and the next;
                                 id 0: none */
};

/* Weights from the negatives service, foil-negatives(1). */
struct train_service {
    struct flow_service *service; /* NULL until it is opened */
    struct wire_weights answer;   /* the last */
    float *in_batch;              /* weights of a batch without the service */
    size_t in_batch_room;
    struct flow_keeper keeper;
    uint64_t greetings; /* of the service, when its state was checked last */
    double again;       /* --policy in-batch: not asked before then */
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
    struct err *err;    /* of the loop */
    struct stage_io io; /* calls train_source_serve() while a step computes */
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
 * source.c: train_source_next() reads what has come and returns 1 with the
 * batch of the next step, or 0 where it has not come; then train_source_idle()
 * returns 1 to wait for it, or 0 at the end of the plan.  Both return -1 with a
 * sentence where the run cannot go on.  train_source_pause_s() and
 * train_source_waits_for() are handlers of a stage (stage/stage.h).
 *
 * train_source_serve() reads what has come, greets and answers, and does not
 * wait.  train_source_find() returns the batch of a later place, or NULL where
 * it has not come.  train_at() is the place of the next step.
 * train_source_restart() begins a new session: batches of the old one do not
 * count.  train_views_wanted() is the number of views of each image in a batch.
 */
int train_source_open(struct train *t, struct err *err);
int train_source_next(struct train *t, struct wire_batch *batch,
                      struct err *err);
int train_source_idle(struct train *t, struct err *err);
double train_source_pause_s(void *train);
int train_source_waits_for(void *train, struct stage_waiting *waiting,
                           double now, struct err who[STAGE_WAITS]);
void train_source_serve(void *train);
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
 * begin.c: train_begin() takes the run directory, and what its newest
 * checkpoint says, or nothing.  train_meet() makes at the first batch what
 * waits for its shape: encoder, samples, history, learner.  train_stand() is
 * train_begin() without a trace in the directory.
 */
int train_begin(struct train *t, struct err *err);
int train_meet(struct train *t, const struct wire_batch *batch,
               struct err *err);
int train_stand(struct train *t, struct err *err);

/*
 * negatives.c: train_service_open() connects to the negatives service, where
 * the objective needs one and it is not open, once the data set is known.
 * train_service_negatives() returns the functions that a learner calls; the
 * service may be opened later.  --policy in-batch lets steps go on without one.
 *
 * train_service_greet() reads what the service has sent before there is
 * anything to weigh: 0, or -1 where it refuses us.  train_service_meet() is the
 * same, and hands its tables to a service that was started again or has
 * connected again, as it may have begun another session.  It asks for no
 * weights: a filter lets no item pass before it has its tables.
 */
int train_service_open(struct train *t, struct err *err);
void train_service_close(struct train_service *service);
struct train_negatives train_service_negatives(struct train *t);
int train_service_greet(struct train *t, struct err *err);
int train_service_meet(struct train *t, struct err *err);

/*
 * features.c: train_features_serve() answers what selectors have asked.
 * train_features_plan() returns 1 with what a selector sent of the plan of an
 * epoch, or 0.  Without --keep-features all of it does nothing.
 */
int train_features_open(struct train *t, struct err *err);
void train_features_close(struct train_features *features);
void train_features_serve(struct train *t);
int train_features_plan(const struct train_features *features, int64_t epoch,
                        struct train_plan *plan);

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
 * Returns 1 when that is over, 0 when asked to stop within it.
 * train_release_batch() releases the batch.  Where a program computes the
 * encoder, that waits until the program is at work again, as releasing a large
 * batch takes milliseconds.  train_meanwhile() is called with the trainer while
 * a program computes, or before ranks do: it names them the next batch.
 */
int train_step(struct train *t, const struct wire_batch *batch,
               struct err *err);
void train_release_batch(struct train *t, struct wire_batch *batch);
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
