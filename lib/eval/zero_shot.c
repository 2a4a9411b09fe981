#include "eval/zero_shot.h"

#include <stdlib.h>

#include "eval/answers.h"
#include "util/mem.h"

void
eval_zero_shot(size_t d, size_t n, const float *x, const int64_t *label,
               size_t m, const float *v, const int64_t *class, size_t classes,
               struct eval_hits *hits)
{
    struct eval_answers own = eval_answers_by_key(n, label, m, class);
    double *rank = mem_array(n, sizeof *rank);

    eval_answers_rank(&own, m, d, x, v, rank);
    for (size_t c = 0; c < classes; c++)
        hits[c] = (struct eval_hits){0};
    for (size_t i = 0; i < n; i++) {
        struct eval_hits *h = &hits[label[i]];

        h->images++;
        h->at1 += rank[i] > 0 && rank[i] <= 1; // 0: there is no text
        h->at3 += rank[i] > 0 && rank[i] <= 3;
        h->at5 += rank[i] > 0 && rank[i] <= 5;
    }
    free(rank);
    eval_answers_release(&own);
}
