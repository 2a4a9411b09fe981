#pragma once

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"

/*
 * Pictures by gnuplot.
 *
 * plot_open() begins a script, and returns the stream to write its text to.
 * plot_draw() ends and releases it, writes it to a file next to the picture,
 * x.gp for x.png, with `set output` added, and runs gnuplot on it. -1 with a
 * message if gnuplot does not run or rejects the script; the script stays.
 */
struct plot {
    FILE *out;
    char *text;
    size_t len;
};

FILE *plot_open(struct plot *plot);
int plot_draw(struct plot *plot, const char *picture, struct err *err);

/* plot_text() writes any text as a quoted string of a script. */
void plot_text(FILE *out, const char *text);

/* plot_hue() returns the colour of the i-th of several things, "rrggbb": one of
 * five that colour-blind people can distinguish (Okabe and Ito).  Distinguish
 * more things by the shape of their points, by i / PLOT_HUES. */
enum { PLOT_HUES = 5 };

const char *plot_hue(size_t i);
