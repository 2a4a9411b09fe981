#ifndef EVAL_AFFINITY_H
#define EVAL_AFFINITY_H

#include <stddef.h>
#include <stdint.h>

/* p_ij of include/eval/tsne.h: of row i those from start[i] on, before
 * start[i + 1], by rising column. */
struct affinity {
    size_t *start; /* [n+1] */
    struct affinity_pair {
        uint32_t column;
        float p;
    } * pair;
};

/* eval_affinity_find() computes them, to be given to eval_affinity_release(); k
 * neighbours of each row, 1 .. n - 1. */
void eval_affinity_find(struct affinity *affinity, size_t n, size_t d,
                        const float *x, size_t k, double perplexity);
void eval_affinity_release(struct affinity *affinity);

#endif
