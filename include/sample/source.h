#ifndef SAMPLE_SOURCE_H
#define SAMPLE_SOURCE_H

#include "sample/memory.h"
#include "sample/sampler.h"
#include "util/arena.h"

/*
 * Where an objective's negatives come from: the samplers of this room behind
 * two questions.
 *
 *   draw   which samples from outside of the batch shall an item bring along?
 *          Asked once for each item, in the order of the plan, when what the
 *          answer rests on is known; may be left out, then there are none.
 *   weigh  how much does each row of the encoded batch count for each anchor?
 *
 * Between them lie the steps that are under way.  An answer depends on what
 * was weighed before and on nothing else, above all not on when it is asked:
 * chains of images that are under way are waited for, and the bank is taken
 * as of `horizon` steps ago (sample/bank.h).
 */

/* How `fresh` scores the state of a chain that is no row of the batch. */
enum sample_elsewhere {
    /* SAMPLE_BROUGHT where samples from outside come along, else SAMPLE_BANKED.
     */
    SAMPLE_AUTO,
    /* By a sample that the draw lets come along for it, with a gradient of its
     * own; without one the chain starts cold. */
    SAMPLE_BROUGHT,
    /* The same of captions alone: the chains of images bring them along, those
     * of captions start cold where their image is not in the batch, and have
     * easier negatives than the softmax: .17 from it in total variation for b =
     * 8 of 100 at beta 5, .33 for b = 4.  For two views of two kinds, where
     * view 0 is an image and view 1 a caption. */
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
    char name[SAMPLE_SAMPLER_MAX];
    struct arena drawn, weighed; /* what the last draw and the last weighing
                                    have handed out */

    /* of the last weighing, to be remembered */
    const struct sample_state *state; /* [v b] NULL: there are no chains */
    const float *score;               /* [v b] NULL: scores are not kept */
};

/* sample_source_init() begins with nothing weighed; size of the data set. */
void sample_source_init(struct sample_source *source,
                        const struct sample_how *how, size_t size);
void sample_source_release(struct sample_source *source);

/* sample_source_name() writes the name of the form in which a sampler keeps its
 * memory: a sampler of the same name reads it. */
void sample_source_name(const struct sample_how *how,
                        char name[SAMPLE_SAMPLER_MAX]);

/*
 * sample_how_fits() returns 0 where a trainer keeps as much as there will be of
 * `size` samples, by the facts known before the first batch; else -1 with the
 * sentence.
 *   fixed  views of a sample, or 0: a batch has two new ones
 *   dim    numbers of an embedding
 */
int sample_how_fits(const struct sample_how *how, size_t size, size_t fixed,
                    size_t dim, struct err *err);

/* sample_source_begin() forgets all; so many steps were trained without. */
void sample_source_begin(struct sample_source *source, int64_t total);

/*
 * sample_source_load() goes on from the memory kept of `total` steps.  Refused,
 * and nothing changed, where that is another sampler's, lacks a table of ours,
 * or sample_memory_load() says so.
 */
int sample_source_load(struct sample_source *source,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/* sample_source_beta() returns the inverse temperature as of the bank that a
 * step of that number draws from. */
double sample_source_beta(const struct sample_source *source, int64_t number);

/* sample_source_banks() returns 1 when draws are from a bank,
 * sample_source_waits() when an item has to wait for chains that are under way.
 */
int sample_source_banks(const struct sample_source *source);
int sample_source_waits(const struct sample_source *source);

enum { SAMPLE_VALUES_MAX = 16 };

/* Samples from outside of a batch that are to be encoded with it. */
struct sample_extras {
    size_t n, most;       /* most: there are never more in a batch of b */
    const int64_t *ids;   /* [n] */
    const int64_t *view;  /* [n] which of its views; NULL: a new one of each */
    const int64_t *epoch; /* [n] of which epoch; NULL: 0 */
    int texts;            /* 1: captions, view - 1 says which */
    struct sample_hints hints; /* for the weighing */
    size_t n_values;           /* of all draws, for the metrics */
    struct sample_value values[SAMPLE_VALUES_MAX];
};

/*
 * sample_source_draw() returns the extra samples of a step; they last until the
 * next call.
 *   step    epoch, step, v, b, fixed, ids and variants; a sampler may
 *           want v = 2
 *   number  of the step in the whole run.  Everything before it, or with a bank
 *           before number - horizon + 1, has been weighed where that matters
 *           (sample_source_waits(), sample_source_banks())
 */
struct sample_extras sample_source_draw(struct sample_source *source,
                                        const struct sample_step *step,
                                        int64_t number);

/* How much each negative counts; n = v b rows, n + extra columns, and those
 * from outside. */
struct sample_weights {
    size_t rows, columns;
    const float *w;       /* [rows,columns] not negative; zero at a row's
                             own image.  Rows sum to 1 */
    int partial;          /* 1: rows may sum to less, as those of `stale` do */
    const float *scale;   /* [rows,2] factors of the positive and the
                             negative term; NULL: 1, 1 */
    const float *s;       /* [rows,columns] cosine similarities, where
                             they are at hand; or NULL.  With those from
                             outside 0 where a row has no weight */
    size_t n_outside;     /* columns behind those of the step: features that
                             are no row of it, and have no gradient */
    const float *outside; /* [n_outside,dim] of unit length */
    double accepted;      /* share of proposals, 0 .. 1 */
    size_t moved;         /* chains whose state changed */
    size_t n_values;
    struct sample_value values[SAMPLE_VALUES_MAX];

    /* To be kept for the sampler (sample/store.h), if the step is applied. */
    const char *sampler;
    size_t n_tables;
    struct sample_rows tables[SAMPLE_TABLES_MAX];
};

/* sample_weights_value() adds a number for the metrics. */
void sample_weights_value(struct sample_weights *weights, const char *name,
                          double x);

/*
 * sample_source_weigh() computes the weights of a step that was encoded, which
 * last until the next call, and remembers the step: sample_memory_step().  -1
 * with the reason where it asks for something impossible; then nothing has
 * changed.  O(n columns dim) time and O(n columns) memory, besides the
 * sampler's.
 */
int sample_source_weigh(struct sample_source *source,
                        const struct sample_step *step,
                        struct sample_weights *weights, struct err *err);

#endif
