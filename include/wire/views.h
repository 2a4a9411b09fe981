#ifndef WIRE_VIEWS_H
#define WIRE_VIEWS_H

#include "wire/pack.h"

/*
 * What item, batch and pairs say of views: for the decoders of this room.
 *
 *     extra_view     tensor i8 [r]: which variant of each extra sample; -1: a
 *                    fresh random view
 *     extra_note     tensor f4 [r,k], k up to WIRE_NOTES_MAX: of who asked for
 *                    the extra samples, for who asked; handed through untouched
 *     reserve        whole: r is never larger in this run, up to WIRE_BATCH_MAX
 *     augmentations  whole, 2 .. WIRE_VIEW_MAX: A, there are A fixed variants
 *                    of each sample
 *     variants       tensor i8 [v,b], 0 .. A - 1, with augmentations: which
 *                    variant each view of an anchor is
 *
 * All are optional; without variants every view is a fresh one.
 */
enum { WIRE_VIEW_MAX = 65535, WIRE_BATCH_MAX = 65536, WIRE_NOTES_MAX = 16 };

struct wire_extra {
    int64_t reserve;     /* 0: not said */
    const int64_t *view; /* [r] or NULL */
    const float *note;   /* [r,notes] or NULL */
    size_t notes;        /* k */
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
