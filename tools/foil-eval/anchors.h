#ifndef FOIL_EVAL_ANCHORS_H
#define FOIL_EVAL_ANCHORS_H

#include "eval/anchors.h"
#include "instrument.h"

/* Measures of an anchor: the fields of struct eval_anchor in their order, and
 * the learnt temperature. */
enum measure {
    EXACT,
    BOUND,
    TAU,
    KL,
    EFFECTIVE,
    LARGEST,
    OWN,
    DENSITY,
    LEARNT,
    MEASURES
};

/* Measured anchors, and how to show them (anchors_show.c). */
struct anchors {
    const struct instrument *in;
    const struct data_set *set; /* of the samples, or NULL */
    double rho;
    size_t m, nearest, extreme;
    size_t *row;             /* [m] ascending */
    struct eval_anchor *out; /* [m] */
    double *learnt;          /* [rows], or NULL */
    double *of[MEASURES];    /* [m] each */
};

/* anchors_csv() writes a line for each anchor. */
void anchors_csv(const struct anchors *a, const char *path);

/* anchors_plot() draws distributions and correlations. */
void anchors_plot(const struct anchors *a);

/* anchors_ends() lists the anchors with the lowest or the highest exact
 * temperature. */
json_t *anchors_ends(const struct anchors *a, int highest);

/* anchors_sheet() draws their images, each with those of its nearest
 * negatives. */
void anchors_sheet(const struct anchors *a, const char *path);

/* anchors_one() prints the softmax of the first anchor, and draws it with
 * --plot. */
void anchors_one(const struct anchors *a);

#endif
