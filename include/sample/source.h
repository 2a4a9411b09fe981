#pragma once

#include "sample/memory.h"
#include "sample/sampler.h"
#include "util/arena.h"
#include "util/weights.h"

/*
 * Where an objective's negatives come from: the samplers of this room behind
 * two calls.
 *
 *   draw   which samples from outside does a batch get?  Called at most once
 *          for each batch, in the order of the plan, when all that the result
 *          depends on is known.  A batch without a call gets none.
 *   weigh  how much does each row of the encoded batch count for each anchor?
 *
 * Other steps may be in flight between the two.  A result depends only on the
 * steps weighed before, never on the time of the call: draws wait for chains of
 * images in flight, and read the bank as of `horizon` steps ago
 * (sample/bank.h).
 */

/* How SAMPLE_FRESH scores the state of a chain that is no row of the batch. */
enum sample_score_source {
    /* SAMPLE_FROM_BATCH_EXTRA if the batch may get samples from outside, else
     * SAMPLE_FROM_BANK. */
    SAMPLE_AUTO,
    /* The draw adds the state to the batch as an extra sample, with a gradient;
     * without it the chain starts cold. */
    SAMPLE_FROM_BATCH_EXTRA,
    /* By its features from the last step that trained on it, as a constant: no
     * extra samples, and both kinds of chains have the softmax.  For two
     * kinds. */
    SAMPLE_FROM_BANK
};
#define SAMPLE_SCORE_SOURCES "auto|image|bank"

struct sample_source {
    struct sample_settings settings;
    struct sample_memory memory; /* bank: `horizon` steps before the next step
                                    to weigh */
    struct sample_bank ahead;    /* `horizon` steps before the next to draw */
    void *own;                   /* the sampler's */
    char name[SAMPLER_NAME_MAX];
    struct arena drawn, weighed; /* results of the last draw and of the last
                                    weighing */
    struct table_rows tables[SAMPLE_MEMORY_TABLES]; /* of the last weighing */

    /* of the last weighing, for sample_memory_step() */
    const struct sample_state *state; /* [v b] NULL: no chains */
    const float *score;               /* [v b] NULL: no scores */
};

/* sample_source_init() makes a source with no step weighed, for a data set of
 * `size` samples. */
void sample_source_init(struct sample_source *source,
                        const struct sample_settings *how, size_t size);
void sample_source_release(struct sample_source *source);

/* sample_source_name() writes the name of the sampler's state format, "emc2 1
 * bank"; a sampler with another name cannot read the state. */
void sample_source_name(const struct sample_settings *how,
                        char name[SAMPLER_NAME_MAX]);

/*
 * sample_settings_fit() returns 0 if the tables of `size` samples fit in
 * how->most bytes, as far as is known before the first batch; else -1 with the
 * reason. fixed  fixed views of a sample; 0: each batch has two new ones dim
 * length of an embedding
 */
int sample_settings_fit(const struct sample_settings *how, size_t size,
                        size_t fixed, size_t dim, struct err *err);

/* sample_source_begin() forgets everything and starts after `total` steps. */
void sample_source_begin(struct sample_source *source, int64_t total);

/* sample_source_load() resumes from the stored state of `total` steps.  Returns
 * -1 and changes nothing if it is another sampler's, or if sample_memory_load()
 * refuses it. */
int sample_source_load(struct sample_source *source,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/* sample_source_beta() returns the inverse temperature of the bank that step
 * `number` of the run draws from: that of step number - horizon; 0 if none is
 * known. */
double sample_source_beta(const struct sample_source *source, int64_t number);

/* sample_source_banks() returns 1 if draws read a bank, sample_source_waits()
 * if a draw must wait for all earlier steps. */
int sample_source_banks(const struct sample_source *source);
int sample_source_waits(const struct sample_source *source);

/*
 * sample_source_draw() returns the extra samples of a step, images or captions,
 * which are encoded with it; valid until the next call.
 *   step    epoch, step, v, b, fixed, ids and view_of; some samplers require
 *           v = 2
 *   number  of the step in the whole run.  If sample_source_waits() is 1, all
 *           steps below `number` must be weighed before the call; if
 *           sample_source_banks() is 1, those up to number - horizon
 */
struct batch_extra sample_source_draw(struct sample_source *source,
                                      const struct batch *step, int64_t number);

/*
 * sample_source_weigh() computes the weights of an encoded step, valid until
 * the next call, and remembers the step (sample_memory_step()).  Returns -1
 * with the reason and changes nothing if the step cannot be weighed.  O(n
 * columns dim) time and O(n columns) memory, plus the sampler's.
 */
int sample_source_weigh(struct sample_source *source, const struct batch *step,
                        struct weights *weights, struct err *err);

/* sample_heaviest() lists the k heaviest negatives of each row: it fills in the
 * arrays; the caller sets k.  O(v b columns) for a small k. */
void sample_heaviest(const struct batch *step, const struct weights *weights,
                     struct heaviest *heaviest);
