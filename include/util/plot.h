#ifndef UTIL_PLOT_H
#define UTIL_PLOT_H

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"

/*
 * Pictures that gnuplot draws.
 *
 * plot_open() begins a script, and returns the stream to write its text to.
 * plot_draw() ends and releases it, writes it to a file beside the picture,
 * x.gp beside x.png, with `set output` added, and runs gnuplot on it.  -1 with
 * a sentence where gnuplot does not run, or refuses the script, which stays.
 */
struct plot {
    FILE *out;
    char *text;
    size_t len;
};

FILE *plot_open(struct plot *plot);
int plot_draw(struct plot *plot, const char *picture, struct err *err);

/* plot_text() writes any text into a script, in quotes, so that gnuplot
 * interprets nothing in it. */
void plot_text(FILE *out, const char *text);

/* plot_hue() returns the colour of the i-th of several things, "rrggbb": one of
 * five that the colour-blind tell apart (Okabe and Ito).  They repeat: the form
 * of a point, by i / PLOT_HUES, has to tell more things apart. */
enum { PLOT_HUES = 5 };

const char *plot_hue(size_t i);

#endif
