#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/vote.h"
#include "util/mem.h"

size_t
eval_vote(size_t k, const uint32_t *ids, const double *score,
          const int64_t *labels, size_t classes, double temperature,
          double *votes)
{
    size_t chosen = 0;

    memset(votes, 0, classes * sizeof *votes);
    for (size_t j = 0; j < k; j++)
        votes[labels[ids[j]]] +=
            temperature > 0 ? exp((score[j] - score[0]) / temperature) : 1;
    for (size_t c = 1; c < classes; c++)
        if (votes[c] > votes[chosen])
            chosen = c;
    return chosen;
}

void
eval_vote_count(size_t m, size_t most, const uint32_t *ids, const double *score,
                const int64_t *want, const int64_t *labels, size_t classes,
                double temperature, size_t choices, const size_t *k,
                size_t *right)
{
    double *votes = mem_array(classes, sizeof *votes);

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < choices; j++)
            right[j] += (size_t)want[i] ==
                        eval_vote(k[j], ids + i * most, score + i * most,
                                  labels, classes, temperature, votes);
    free(votes);
}
