#ifndef SAMPLE_BRING_H
#define SAMPLE_BRING_H

#include "sample/source.h"

/*
 * What samplers share that let samples from outside come along with a batch: a
 * bag that a draw fills.
 */
struct sample_bag {
    struct sample_extras *extras;
    int64_t *id, *view, *epoch;
    int32_t *row, *state_view; /* hints */
    float *log_q;
};

/* sample_bag_init() has room for `most`, and shows ids and views alone; what
 * else a draw says, it points its extras at. */
struct sample_bag sample_bag_init(struct sample_source *source, size_t most,
                                  struct sample_extras *extras);

/* sample_bag_add() adds a sample for a row, or -1; returns where it is. */
size_t sample_bag_add(struct sample_bag *bag, struct sample_state state,
                      int32_t row);

/* sample_bag_add_outside() adds those of `wanted` states that are no rows of a
 * batch, each once, in the order of sample, view and epoch. */
void sample_bag_add_outside(struct sample_bag *bag,
                            struct sample_source *source,
                            const struct sample_batch *batch, size_t wanted,
                            struct sample_state *want);

/* sample_bring_states() lets the states of chains come along that the batch
 * does not hold itself; for an exact draw with a second view of their images.
 */
void sample_bring_states(struct sample_source *source,
                         const struct sample_step *step,
                         struct sample_extras *extras);

/* sample_bring_texts() does it of the captions at which chains of images stand.
 * Which captions the batch will have is the augmenter's to draw, so theirs come
 * along, too. */
void sample_bring_texts(struct sample_source *source,
                        const struct sample_step *step,
                        struct sample_extras *extras);

/* sample_bring_walked() lets chains walk on the bank first, and says in hints
 * where each stands then: its row and the view of its state. */
void sample_bring_walked(struct sample_source *source,
                         const struct sample_step *step, int64_t number,
                         struct sample_extras *extras);

/* sample_beta_then() returns the inverse temperature as of the bank that a step
 * of that number draws from. */
double sample_beta_then(const struct sample_source *source, int64_t number);

/* sample_state_order() compares two states for qsort(): by sample, view and
 * epoch. */
int sample_state_order(const void *a, const void *b);

/*
 * sample_outside() keeps of `wanted` states those that are no row of a batch,
 * each once, in that order, and returns how many there are.
 *   batch  v, b, ids, variants and epoch count
 *   want   [wanted]
 *   own    [v b] scratch
 */
size_t sample_outside(const struct sample_batch *batch, size_t wanted,
                      struct sample_state *want, struct sample_state *own);

#endif
