#ifndef WIRE_VIEWS_H
#define WIRE_VIEWS_H

#include "wire/metrics.h"
#include "wire/pack.h"

/*
 * What item, batch and pairs say of views: for the decoders of this room.
 *
 *     extra_view     tensor i8 [r]: which variant of each extra sample; -1: a
 *                    fresh random view
 *     hint_row       tensor i4 [r]: the row of the batch, view b + i, for which
 *                    each extra sample was drawn; -1: for none
 *     hint_view      tensor i4 [r]: the view in the state of that row's chain;
 *                    -1: none
 *     hint_log_q     tensor f4 [r]: log of the probability of the draw
 *     hint_values    map: up to WIRE_HINT_VALUES_MAX numbers of all draws for
 *                    the metrics (wire/metrics.h)
 *     reserve        whole: r is never larger in this run, up to WIRE_BATCH_MAX
 *     augmentations  whole, 2 .. WIRE_VIEW_MAX: A, there are A fixed variants
 *                    of each sample
 *     variants       tensor i8 [v,b], 0 .. A - 1, with augmentations: which
 *                    variant each view of an anchor is
 *
 * All are optional; without variants every view is a fresh one.  Hints are what
 * a filter that draws the extra samples tells the service that weighs them:
 * the stages between hand them on, and nobody else looks at them.
 */
enum {
    WIRE_VIEW_MAX = 65535,
    WIRE_BATCH_MAX = 65536,
    WIRE_HINT_VALUES_MAX = 8
};

struct wire_extra {
    int64_t reserve;         /* 0: not said */
    const int64_t *view;     /* [r] or NULL */
    const int32_t *hint_row; /* [r] or NULL, as are both that follow */
    const int32_t *hint_view;
    const float *hint_log_q;
    size_t n_hint_values;
    struct wire_metric hint_values[WIRE_HINT_VALUES_MAX];
};

struct wire_variants {
    int64_t augmentations;  /* A; 0: each view is a fresh one */
    size_t views;           /* v */
    const int64_t *variant; /* [v,b], NULL when A is 0 */
};

/* r and b are those of the message; nothing is written where r or A is 0. */
void wire_extra_write(struct wire_writer *w, const struct wire_extra *extra,
                      size_t r);
void wire_variants_write(struct wire_writer *w,
                         const struct wire_variants *variants, size_t b);

/* v 0: any number of views. */
void wire_extra_read(struct wire_reader *r, struct wire_extra *extra,
                     size_t n_extra);
void wire_variants_read(struct wire_reader *r, struct wire_variants *variants,
                        size_t v, size_t b);

#endif
