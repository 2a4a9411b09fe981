#ifndef FOIL_EVAL_CURVES_H
#define FOIL_EVAL_CURVES_H

#include <stddef.h>

#include "eval/bias.h"

/*
 * Figures with their intervals against the size of batches: a picture with a
 * panel for each figure and a line for each name.
 */
enum { CURVES_PANELS = 3 };

struct curves_panel {
    const char *label;
    int logarithms; /* 1: what is below 1e-6 is drawn there */
};

struct curves {
    struct curves_point {
        char *name;
        size_t batch;
        struct eval_figure figure[CURVES_PANELS];
    } * point;
    size_t n, room;
};

/* curves_add() adds a point; its name becomes that of `curves`. */
void curves_add(struct curves *curves, char *name, size_t batch,
                const struct eval_figure figure[CURVES_PANELS]);

/* curves_draw() draws them, as plot() does, where `picture` is not NULL, and
 * releases them. */
void curves_draw(struct curves *curves,
                 const struct curves_panel panel[CURVES_PANELS],
                 const char *picture);

#endif
