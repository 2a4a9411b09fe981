#ifndef SAMPLE_SOURCE_H
#define SAMPLE_SOURCE_H

#include "sample/memory.h"
#include "sample/sampler.h"
#include "util/arena.h"
#include "util/weights.h"

/*
 * Where an objective's negatives come from: the samplers of this room behind
 * two questions.
 *
 *   draw   which samples from outside of the batch shall an item bring along?
 *          Asked at most once for each item, in the order of the plan, when
 *          all that the answer depends on is known; where it is not asked none
 *          come along.
 *   weigh  how much does each row of the encoded batch count for each anchor?
 *
 * Between the two lie the steps that are under way.  An answer depends on what
 * was weighed before and on nothing else, above all not on when it is asked:
 * chains of images that are under way are waited for, and the bank is taken
 * as of `horizon` steps ago (sample/bank.h).
 */

/* How SAMPLE_FRESH scores the state of a chain that is no row of the batch. */
enum sample_elsewhere {
    /* SAMPLE_BROUGHT where samples from outside come along, else SAMPLE_BANKED.
     */
    SAMPLE_AUTO,
    /* By a sample that the draw lets come along for it, with a gradient of its
     * own; without one the chain starts cold. */
    SAMPLE_BROUGHT,
    /* The same for captions alone: the chains of images bring them along, the
     * chains of captions start cold where their image is not in the batch, and
     * have easier negatives than the softmax: .17 from it in total variation
     * for b = 8 of 100 at beta 5, .33 for b = 4.  For two views of two kinds,
     * where view 0 is an image and view 1 a caption. */
    SAMPLE_BROUGHT_TEXTS,
    /* By its features when it was trained last, as a constant: nothing comes
     * along, and both kinds of chains have the softmax.  For two kinds. */
    SAMPLE_BANKED
};
#define SAMPLE_ELSEWHERE "auto|image|text|bank"

struct sample_source {
    struct sample_how how;
    struct sample_memory memory; /* bank: as of `horizon` steps before the next
                                    to weigh */
    struct sample_bank ahead;    /* and before the next to draw for */
    void *own;                   /* the sampler's */
    char name[SAMPLER_NAME_MAX];
    struct arena drawn, weighed; /* what the last draw and the last weighing
                                    have handed out */
    struct table_rows tables[SAMPLE_MEMORY_TABLES]; /* of the last weighing */

    /* of the last weighing, to be remembered */
    const struct sample_state *state; /* [v b] NULL: there are no chains */
    const float *score;               /* [v b] NULL: scores are not kept */
};

/* sample_source_init() begins with nothing weighed; size: of the data set. */
void sample_source_init(struct sample_source *source,
                        const struct sample_how *how, size_t size);
void sample_source_release(struct sample_source *source);

/* sample_source_name() writes the name of the form in which a sampler keeps its
 * state, "emc2 1 bank": a sampler with another name cannot read it. */
void sample_source_name(const struct sample_how *how,
                        char name[SAMPLER_NAME_MAX]);

/*
 * sample_how_fits() returns 0 where the tables of `size` samples will not be
 * larger than how->most, so far as is known before the first batch; else -1
 * with a sentence.
 *   fixed  fixed views of a sample; 0: each batch has two new ones
 *   dim    numbers of an embedding
 */
int sample_how_fits(const struct sample_how *how, size_t size, size_t fixed,
                    size_t dim, struct err *err);

/* sample_source_begin() forgets all, and goes on after `total` steps. */
void sample_source_begin(struct sample_source *source, int64_t total);

/*
 * sample_source_load() goes on from the state kept of `total` steps.  -1, and
 * nothing changed, where it is another sampler's, or sample_memory_load()
 * refuses it.
 */
int sample_source_load(struct sample_source *source,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/* sample_source_beta() returns the inverse temperature of the step as of which
 * step `number` of the run sees the bank; 0 where none is known. */
double sample_source_beta(const struct sample_source *source, int64_t number);

/* sample_source_banks() returns 1 when draws are from a bank,
 * sample_source_waits() when an item has to wait for chains that are under way.
 */
int sample_source_banks(const struct sample_source *source);
int sample_source_waits(const struct sample_source *source);

/*
 * sample_source_draw() returns the extra samples of a step, by images or by
 * captions, which are to be encoded with it; they last until the next call.
 *   step    epoch, step, v, b, fixed, ids and view_of; a sampler may
 *           want v = 2
 *   number  of the step in the whole run.  Before the call all steps below
 *           `number` must have been weighed where sample_source_waits() is 1,
 *           those up to number - horizon where sample_source_banks() is
 */
struct batch_extra sample_source_draw(struct sample_source *source,
                                      const struct batch *step, int64_t number);

/*
 * sample_source_weigh() computes the weights of an encoded step, which last
 * until the next call, and remembers the step (sample_memory_step()).  -1 with
 * the reason where the step cannot be weighed; then nothing has changed.  O(n
 * columns dim) time and O(n columns) memory, besides the sampler's.
 */
int sample_source_weigh(struct sample_source *source, const struct batch *step,
                        struct weights *weights, struct err *err);

#endif
