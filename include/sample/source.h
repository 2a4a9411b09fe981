#ifndef SAMPLE_SOURCE_H
#define SAMPLE_SOURCE_H

#include "sample/cache.h"
#include "sample/memory.h"
#include "sample/refresh.h"
#include "sample/walk.h"

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
    /* By a sample that the draw lets come along for it, with a gradient of its
     * own; without one the chain starts cold. */
    SAMPLE_BROUGHT,
    /* The same of captions alone: the chains of images bring them along, those
     * of captions start cold where their image is not in the batch, and have
     * easier negatives than the softmax: .17 from it in total variation for b =
     * 8 of 100 at beta 5, .33 for b = 4.  For `cross`, where view 0 is an image
     * and view 1 a caption. */
    SAMPLE_BROUGHT_TEXTS,
    /* By its features when it was trained last, as a constant: nothing comes
     * along, and both kinds of chains have the softmax.  For `cross`. */
    SAMPLE_BANKED
};

struct sample_how {
    int cache; /* 1: the negative cache; 0: EMC2, with what follows */
    enum sample_proposals proposals;
    enum sample_scores scores;
    enum sample_elsewhere elsewhere;
    long burn;    /* proposals not recorded; -1: half of them */
    size_t moves; /* of each chain on the bank between visits, or 0;
                     sample/walk.h */

    size_t horizon; /* >= 1, of the bank */
    double refresh; /* cache: share of the samples encoded anew each step */
    double limit;   /* cache: largest importance of a draw, >= 1 */
    size_t most;    /* bytes that a trainer keeps; 0: SAMPLE_STORE_MOST */
    uint64_t seed;
};

/*
 * sample_how_propose() sets proposals and moves to what one of the words of
 * SAMPLE_PROPOSALS says, "bank" and "exact-bank" with so many moves.
 */
#define SAMPLE_PROPOSALS "row|once|all4|bank|exact|exact-bank"
void sample_how_propose(struct sample_how *how, const char *word, size_t moves);

struct sample_source {
    struct sample_how how;
    struct sample_memory memory; /* bank: as of `horizon` steps before the next
                                    to weigh */
    struct sample_bank ahead;    /* and before the next to draw for */
    struct sample_refresh refresh; /* order NULL: nothing is refreshed */
    struct sample_recall *recall;  /* of the last weighing */

    /* of the last draw and the last weighing */
    struct sample_state *state, *stand;
    struct sample_draw *draw;
    int64_t *ids, *extra, *view, *epoch;
    int32_t *hint_row, *hint_view;
    float *hint_log_q, *score, *z, *s, *w, *scale, *positive;
    size_t state_room, stand_room, draw_room, ids_room, extra_room, view_room,
        epoch_room, hint_row_room, hint_view_room, hint_log_q_room, score_room,
        z_room, s_room, w_room, scale_room, positive_room;
};

/* sample_source_init() begins with nothing weighed; size of the data set. */
void sample_source_init(struct sample_source *source,
                        const struct sample_how *how, size_t size);
void sample_source_release(struct sample_source *source);

/* sample_source_name() returns the sampler's name and version: one of the same
 * name reads what another has kept. */
const char *sample_source_name(const struct sample_how *how);

/* sample_source_begin() forgets all; so many steps were trained without. */
void sample_source_begin(struct sample_source *source, int64_t total);

/*
 * sample_source_load() goes on from what was kept of `total` steps.  Refused,
 * and nothing changed, where that is another sampler's, lacks a table of ours,
 * or sample_memory_load() says so.
 */
int sample_source_load(struct sample_source *source,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/* sample_source_banks() returns 1 when draws are from a bank,
 * sample_source_waits() when an item has to wait for chains that are under way.
 */
int sample_source_banks(const struct sample_how *how);
int sample_source_waits(const struct sample_how *how);

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
 *   step    epoch, step, v, b, fixed, ids and variants; the cache wants v = 2
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

/*
 * sample_source_weigh() computes the weights of a step that was encoded, which
 * last until the next call, and remembers the step: sample_memory_step().  -1
 * with the reason where it asks for what cannot be; then nothing has changed.
 * O(n columns dim) time and O(n columns) memory, besides the sampler's.
 */
int sample_source_weigh(struct sample_source *source,
                        const struct sample_step *step,
                        struct sample_weights *weights, struct err *err);

#endif
