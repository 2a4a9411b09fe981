#ifndef WIRE_PAIRS_H
#define WIRE_PAIRS_H

#include "wire/views.h"

/*
 * pairs: a batch of embeddings that wants weights; trainer to the negatives
 * service.
 *
 *     id           whole  number of the request, repeated by the answer
 *     session      whole  as in wire/next.h
 *     epoch, step  whole
 *     beta         real   inverse temperature, > 0
 *     ids          tensor i8 [b]
 *     z            tensor f4 [v,b,d], rows of unit length
 *     extra_ids    tensor i8 [r]    optional, both or neither
 *     extra_z      tensor f4 [r,d]
 *
 * and which views these are, with the hints of the item, as in wire/views.h.
 */
struct wire_pairs {
    int64_t id, session, epoch, step;
    double beta;
    size_t n, n_views, dim, n_extra; /* b, v, d, r */
    const int64_t *ids;              /* [b] */
    const float *z;                  /* [v,b,d] */
    const int64_t *extra_ids;        /* [r] */
    const float *extra_z;            /* [r,d] */
    struct wire_extra of_extra;
    struct wire_variants variants;
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/* As in wire/item.h. */
struct wire_msg *wire_pairs_put(const struct wire_pairs *pairs);
int wire_pairs_get(struct wire_pairs *pairs, struct wire_msg *msg, int64_t size,
                   struct err *err);
void wire_pairs_release(struct wire_pairs *pairs);

#endif
