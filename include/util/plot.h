#ifndef UTIL_PLOT_H
#define UTIL_PLOT_H

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"

/*
 * Pictures that gnuplot draws.
 *
 * plot_open() begins a script, and returns where its text is written to.
 * plot_draw() ends it, writes it beside a picture, x.gp beside x.png, where it
 * stays, and has gnuplot draw it there; `set output` is added.  -1 with a
 * sentence where gnuplot does not run, or refuses the script, which is kept.
 */
struct plot {
    FILE *out;
    char *text;
    size_t len;
};

FILE *plot_open(struct plot *plot);
int plot_draw(struct plot *plot, const char *picture, struct err *err);

/* plot_text() writes a text of a stranger into a script, in quotes. */
void plot_text(FILE *out, const char *text);

/* plot_hue() returns the colour of the i-th of several things, "rrggbb": one of
 * five that the colour-blind tell apart (Okabe and Ito).  They come again, so
 * that the form, i / PLOT_HUES, has to tell more than five apart. */
enum { PLOT_HUES = 5 };

const char *plot_hue(size_t i);

#endif
