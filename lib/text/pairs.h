#ifndef TEXT_PAIRS_H
#define TEXT_PAIRS_H

#include <stddef.h>
#include <stdint.h>

/* A number for each pair of symbols that was put in.  Starts as zeros. */
struct pairs {
    struct pairs_slot {
        uint64_t pair;
        uint32_t number; /* + 1; 0: free */
    } * slot;            /* [slots], a power of two */
    size_t n, slots;
};

enum { PAIRS_NONE = -1 };

/* data_pairs_get() is the number of a pair, or PAIRS_NONE. */
int64_t data_pairs_get(const struct pairs *pairs, int32_t left, int32_t right);

/* data_pairs_put() gives a pair that is not there a number below 2^31. */
void data_pairs_put(struct pairs *pairs, int32_t left, int32_t right,
                    size_t number);

void data_pairs_release(struct pairs *pairs);

#endif
