#pragma once

#include "flow/handover.h"
#include "flow/inlet.h"
#include "options.h"
#include "ranks.h"
#include "run/batches.h"
#include "run/live.h"
#include "run/results.h"
#include "sample/source.h"
#include "stage/io_thread.h"
#include "train/checkpoints.h"
#include "train/history.h"
#include "train/journal.h"
#include "train/process.h"
#include "util/arena.h"
#include "wire/batch.h"
#include "wire/features.h"
#include "wire/feed.h"
#include "wire/negatives.h"

/*
 * The parts of foil-train, one file each:
 *
 *   options.c     the command line, and which options a checkpoint stores
 *   spec.c        options as settings of encoder, optimiser and schedules
 *   init_files.c  files from which an encoder begins
 *   texts.c       the vocabulary, and the captions of a batch
 *   begin.c       begins or resumes a run: makes all objects in their order;
 *                 --list and --dry-run
 *   encoders.c    the encoders, computed here or by a program
 *   ranks.c       other processes that compute a part of them
 *   alone.c       foil-train, without ranks
 *   mpi.c         foil-train-mpi, with ranks of MPI
 *   cost.c        memory and time that a run will take
 *   source.c      batches from augmenters, in the order of the plan
 *   step.c        one step, and the plan of its epoch
 *   negatives.c   weights from the negatives service
 *   features.c    features of past epochs, for selectors
 *   save.c        checkpoints
 *   report.c      steps and events, printed and published
 *   status.c      state of the stages, published
 */

/* init_files.c: files that an encoder starts with.
 * basis=FILE: the fixed basis that "linear" projects pixels to. */
struct train_basis {
    const char *path;
    float *rows;     /* [n + 1,width], or NULL: there is none */
    size_t n, width; /* rows of the basis; numbers of an image */
};

/* train_basis_read() reads a file; there is no basis if the path is "". */
int train_basis_read(struct train_basis *basis, const char *path,
                     struct err *err);
void train_basis_release(struct train_basis *basis);

/* train_basis_set() passes the basis to the encoder, if there is one. */
int train_basis_set(struct train_basis *basis, struct train_encoder *encoder,
                    struct err *err);

/*
 * train_rows_width() sets *width to the numbers of a row that an encoder looks
 * up (rows=FILE), before it is built; for other encoders it changes nothing.
 * train_rows_read() reads these rows, or the initial rows of a "table", unless
 * the path is "".
 */
int train_rows_width(const char *arch, const char *path, size_t *width,
                     struct err *err);
int train_rows_read(struct train_encoder *encoder, const char *path,
                    struct err *err);

/*
 * --labels: the classes of all samples, from an index or a file of whole
 * numbers.  train_labels_read() returns them, and the caller frees them; it
 * returns NULL with an error message, also if the index is of another data set.
 */
int64_t *train_labels_read(const char *path, const struct train_shape *shape,
                           struct err *err);

/*
 * --init: files of initial weights, "image=FILE" or FILE, and "text=FILE".
 * train_init_check() refuses a file for texts without a text encoder, and two
 * files for an encoder; train_init_find() refuses a missing file.
 * train_init_read() loads the file of an encoder, if any, and prints a message.
 */
int train_init_check(const struct opt_list *files, int texts, struct err *err);
int train_init_find(const struct opt_list *files, struct err *err);
int train_init_read(struct train_encoder *encoder, int texts,
                    const struct opt_list *files, struct err *err);

/* Captions of images (--text): the vocabulary of a run, and the captions of its
 * batches.  Without --text these functions do nothing. */
struct train_texts {
    char *file; /* content of vocabulary.txt; NULL: there are no texts */
    size_t bytes;
    char digest[9]; /* first digits of the vocabulary's digest */
    int32_t end;    /* the token that ends a text */

    struct arena arrays; /* of the present batch */
};

/* train_texts_read() reads the vocabulary from --vocabulary or a checkpoint;
 * *size is the number of its tokens. */
int train_texts_read(struct train_texts *texts, const char *path, size_t *size,
                     struct err *err);
void train_texts_release(struct train_texts *texts);

/* train_texts_check_recipe() refuses augmenters whose recipe names another
 * vocabulary.
 */
int train_texts_check_recipe(const struct train_texts *texts,
                             const char *recipe, struct err *err);

/* train_texts_check() refuses a batch with texts that do not fit the run. */
int train_texts_check(const struct train_texts *texts,
                      const struct train_options *options,
                      const struct train_shape *shape,
                      const struct wire_batch *batch, struct err *err);

/* train_texts_pack() packs the captions of a batch and then its extra texts for
 * the learner, by batch_captions(). */
void train_texts_pack(struct train_texts *texts, const struct wire_batch *from,
                      struct batch *batch);

/* train_texts_part() returns vocabulary.txt as a part of a checkpoint. */
struct train_part train_texts_part(struct train_texts *texts);

/* The negatives with the largest weights in a step, for subscribers of
 * top_negatives.  With a subscriber, one step per quarter of a second is
 * recorded: at b = 128 that costs .84 ms. */
enum { TRAIN_TOP_NEGATIVES = 8 }; /* of each anchor */

struct train_top_negatives {
    int wanted; /* 1: needed for this step */
    double sent_at;
    int known; /* 1: `message` is of the last step that was weighed */
    struct wire_top_negatives message;
    struct arena arrays; /* of `message` */
};

/* The source of batches. */
struct train_source {
    struct flow_inlet *inlet;
    size_t largest; /* bytes of a batch, so far */
    int is_idle;    /* 1: the next batch was requested and has not come */
    int has_sizes;  /* 1: `sizes` is set, by the augmenter of the first batch */
    struct image_sizes sizes; /* of views, by epoch; n = 0: one size */
    struct wire_place asked;  /* where a session began to get the same plan */
    double ended_at; /* when the last augmenter sent that no items are left; 0:
                      * some have items */
};

/* Features of past epochs for selectors, and the plans that selectors sent. */
struct train_features {
    struct flow_server *server; /* NULL: without --keep-features */
    struct arena arrays;        /* of an answer */
    struct wire_plan plan[2];   /* of epoch e at e % 2: this epoch and the next;
                                   id 0: none */
};

/* Weights from the negatives service, foil-negatives(1). */
struct train_service {
    struct flow_client *service; /* NULL until it is opened */
    const struct batch *asked;   /* whose weights were requested */
    struct wire_weights answer;  /* the last */
    float *in_batch;             /* weights of a batch without the service */
    size_t in_batch_room;
    struct flow_state_copy state_copy;
    uint64_t greetings; /* of the service, when its state was checked last */
    double retry_at;    /* --policy in-batch: time of the next request */
};

/* All objects of a trainer, in the order of their use. */
struct train {
    struct train_options *options;
    const struct ranks *ranks; /* this process is rank 0; NULL: no ranks */
    json_t *config; /* of the checkpoint that was resumed; options point here */
    const struct loss_objective *objective;
    struct train_shape shape;
    struct train_state state;        /* advanced by steps */
    struct train_state state_before; /* before the present step */
    int64_t session;
    int trained; /* 1: this process has done a step */

    struct train_journal journal;
    struct run_batches batches;
    struct tally unrecorded; /* steps whose batch could not be written */
    char view_options[1024]; /* JSON: how an augmenter makes views, of the last
                          hello that has it (foil-wire(5)) */
    struct train_samples samples;
    struct train_history history;
    struct train_program *program; /* of the encoders; NULL: none */
    struct train_encoder encoder;
    struct train_texts texts;
    struct train_encoder text_encoder; /* with --text */
    struct train_scalars scalars;      /* of the objective */
    struct train_basis basis;          /* until the encoder has it */

    struct stage stage;
    struct err *err;    /* of stage_loop() */
    struct stage_io io; /* calls train_source_serve() while a step computes */
    struct wire_feed *feed;
    double status_sent_at;
    struct run_stages stages; /* the status of each stage then */
    struct run_lines results; /* new lines are published */
    struct train_source source;
    struct wire_batch unreleased; /* a trained batch, with a program */
    struct train_features features;

    struct train_service service;
    struct train_local_sampler local; /* with --sampler trainer */
    struct train_top_negatives top_negatives;
    struct train_negatives negatives; /* of service or local */
    int64_t *labels;                  /* of all samples; NULL: no --labels */
    struct train_learner learner;
    struct train_checkpoints checkpoints;
};

/*
 * source.c: train_source_next() reads messages and returns 1 with the batch of
 * the next step, or 0 if it has not come; then train_source_idle() returns 1 to
 * wait for it, or 0 at the end of the plan.  Both return -1 with an error
 * message if the run must end.  train_source_pause_s() and
 * train_source_waits_for() are handlers of a stage (stage/stage.h).
 *
 * train_source_serve() reads and answers messages without waiting.
 * train_prefetch_next(), called while a program computes, or before ranks do,
 * announces the next batch to them, if it has come and fits.  train_plan_fits()
 * returns 1 if a batch begins an epoch, or has the digest of the order of
 * samples with which the epoch began, or if one of the two has no such digest.
 * train_at() is the place of the next step.  train_source_restart()
 * begins a new session, as train_session() does, and drops batches of the old
 * one.  train_session() begins a session above the last one of the run, and
 * writes it into the run directory.  train_views_wanted() is the number of
 * views of each image in a batch.
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
int train_plan_fits(const struct train *t, const struct wire_batch *batch);
void train_prefetch_next(void *train);
int train_session(struct train *t, struct err *err);
int train_source_restart(struct train *t, struct err *err);
void train_source_close(struct train *t);
size_t train_views_wanted(const struct train_options *options);

/*
 * begin.c: train_begin() takes the run directory and loads its newest
 * checkpoint, if there is one.  train_build() makes the objects that depend on
 * the shape of the first batch: encoder, samples, history, learner.
 * train_print_plan() prints all objectives, a line of JSON each (--list); or,
 * as a line of JSON, what a run with these options needs and its place
 * (--dry-run), and ends the tool if the run could not begin or resume.
 */
int train_begin(struct train *t, struct err *err);
int train_build(struct train *t, const struct wire_batch *batch,
                struct err *err);
void train_print_plan(struct train *t);

/*
 * negatives.c: train_service_open() connects to the negatives service, if the
 * objective needs one and it is not open, once the data set is known.
 * train_service_negatives() returns the functions that a learner calls; the
 * service may be opened later.  With --policy in-batch steps do not need it.
 *
 * train_service_greet() reads messages of the service before the first batch:
 * returns 0, or -1 if it refuses the trainer.  train_service_restore() does the
 * same; and if the service was restarted, or has reconnected and so may have
 * begun another session, it sends it the tables of its sampler.  It does so
 * before the next request of weights, because a service that filters items
 * forwards none until it has these tables.
 */
int train_service_open(struct train *t, struct err *err);
void train_service_close(struct train_service *service);
struct train_negatives train_service_negatives(struct train *t);
int train_service_greet(struct train *t, struct err *err);
int train_service_restore(struct train *t, struct err *err);

/* features.c: train_features_serve() answers requests of selectors.
 * train_features_plan() returns 1 with the plan of an epoch that a selector
 * sent, or 0.  Without --keep-features these functions do nothing. */
int train_features_open(struct train *t, struct err *err);
void train_features_close(struct train_features *features);
void train_features_serve(struct train *t);
int train_features_plan(const struct train_features *features, int64_t epoch,
                        struct train_plan *plan);

/*
 * encoders.c: train_encoders_args() returns a copy of argv with --resume, made
 * before argv is parsed.  train_encoders_resume() executes this program with
 * these arguments to continue from the last checkpoint; it returns only if that
 * would not help.
 *
 * train_encoders_resize() continues with images of that size.  If it is another
 * one, it saves a checkpoint, opens encoders for the new size and loads the
 * checkpoint into them.
 */
char **train_encoders_args(char **argv);
int train_encoders_open(struct train *t, struct err *err);
int train_encoders_resize(struct train *t, size_t height, size_t width,
                          struct err *err);
void train_encoders_resume(struct train *t, char **args, const struct err *why);
void train_encoders_close(struct train *t);

/* cost.c: train_cost_print() prints the memory and time of that many steps,
 * with batches like the first one, if these are gigabytes or hours. */
void train_cost_print(const struct train *t, const struct wire_batch *batch,
                      double steps);

/*
 * step.c: train_batch() trains a batch, or only encodes it, reports it and
 * releases it; or begins a new session if it is of another plan.  Returns 1, 0
 * if a signal came during it, -1 on error.  With a program as encoder it
 * releases the batch later, while the program computes, as that takes
 * milliseconds for a large batch.
 */
int train_batch(struct train *t, struct wire_batch *batch, struct err *err);

/* save.c: train_save_open() lists the parts of a checkpoint.  train_tidy()
 * deletes old checkpoints, and prints a message if that fails. */
void train_save_open(struct train *t);
void train_tidy(struct train *t);

/* train_save() saves a checkpoint and waits until it is complete. */
int train_save(struct train *t, struct err *err);

/*
 * train_save_if_due() begins a checkpoint, which a thread completes, and
 * reports the one before; train_save_finish() reports a pending one, with
 * `wait` when it is complete.  Both print a message if one fails; the next save
 * that is due tries again.
 */
void train_save_if_due(struct train *t);
void train_save_finish(struct train *t, int wait);

/* status.c: train_status_send() publishes the status of the trainer and of its
 * peers, once a second; `waits`: seconds of waiting for the next batch.
 * train_status_save() does so at the end, and writes RUN/stages.json.
 */
void train_status_send(struct train *t, double waits);
void train_status_save(struct train *t);

/* report.c: train_report_init() prints and publishes what the journal reports.
 * train_report_step() takes the batch as it came, which is written to the run
 * directory, and as the learner takes it.  train_top_negatives_take() takes the
 * weights of a step, for subscribers. */
void train_report_init(struct train *t);
int train_report_open(struct train *t, struct err *err);
void train_report_step(struct train *t, const struct wire_batch *from,
                       const struct batch *batch,
                       const struct train_result *result);
void train_top_negatives_take(void *train, const struct batch *step,
                              const struct weights *weights);
void train_report_event(struct train *t, const char *what, const char *path,
                        const char *reason);
