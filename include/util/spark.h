#ifndef UTIL_SPARK_H
#define UTIL_SPARK_H

#include <stddef.h>

/*
 * A curve of any length in fixed memory, drawn in one line of text.
 *
 *     struct spark spark = {0};
 *     spark_add(&spark, 4.51); ...
 *     spark_draw(&spark, 40, 1, text);
 *
 * It has up to SPARK_POINTS points, each the mean of `each` values.  When they
 * are full, each two neighbours are merged.
 */
enum { SPARK_POINTS = 512 };

struct spark {
    size_t n, each; /* points; values of a point */
    size_t waiting; /* values of the incomplete point, */
    double sum;     /* and their sum */
    double point[SPARK_POINTS];
};

/* spark_add() appends a value; one that is not finite is ignored. */
void spark_add(struct spark *spark, double x);

/*
 * spark_draw() draws it in at most `columns` characters, from left to right,
 * with its least value as the lowest of eight levels and its greatest as the
 * highest; a constant curve is in the middle.
 *   blocks   1: by U+2581 .. U+2588 in UTF-8; 0: by ASCII characters
 *   text     [SPARK_TEXT]
 */
enum { SPARK_TEXT = 3 * SPARK_POINTS + 4 };
void spark_draw(const struct spark *spark, size_t columns, int blocks,
                char text[SPARK_TEXT]);

#endif
