#ifndef SAMPLE_VISIT_H
#define SAMPLE_VISIT_H

#include "sample/source.h"

/*
 * What samplers with chains share: a visit, from where the chains of a batch
 * stand to their weights.
 *
 * sample_visit_states() returns where the chains of a step stand, [v b], and
 * points source->score at what they keep, where scores are stale.  The first
 * time it makes the chains.
 */
struct sample_state *sample_visit_states(struct sample_source *source,
                                         const struct sample_step *step);

/* sample_visit_compare() returns the similarities of anchors with all columns,
 * [v b,v b + extra]. */
const float *sample_visit_compare(struct sample_source *source,
                                  const struct sample_step *step);

/*
 * sample_visit() moves the chains of a step on, and fills in its weights.
 *   state  [v b]  where they stand; stays source->state
 *   s      [v b,v b + extra]
 */
void sample_visit(struct sample_source *source, const struct sample_step *step,
                  struct sample_state *state, const float *s,
                  struct sample_weights *weights);

/* sample_visit_check() refuses a step whose chains are of other views, or which
 * leaves nothing to record. */
int sample_visit_check(const struct sample_source *source,
                       const struct sample_step *step, struct err *err);

/* sample_row_of() returns the row < n for which an extra sample was drawn, or n
 * for none. */
size_t sample_row_of(const struct sample_step *step, size_t e, size_t n);

#endif
