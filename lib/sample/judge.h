#ifndef SAMPLE_JUDGE_H
#define SAMPLE_JUDGE_H

#include "sample/source.h"

/* sample_judge() refuses, with the reason, a step that a source cannot weigh.
 */
int sample_judge(const struct sample_source *source,
                 const struct sample_step *step, struct err *err);

/* sample_burn() returns how many proposals of a visit are not recorded. */
size_t sample_burn(const struct sample_how *how,
                   const struct sample_step *step);

/* sample_is_banked() returns 1 where a bank, the latest that there is, says
 * what states from outside of the batch are worth. */
int sample_is_banked(const struct sample_how *how);

#endif
