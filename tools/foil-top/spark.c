#include <math.h>

#include "top.h"

enum { LEVELS = 8 };

void
spark_add(struct spark *s, double x)
{
    if (!isfinite(x))
        return;
    if (!s->each)
        s->each = 1;
    if (s->n == SPARK_POINTS) {
        s->n /= 2;
        s->each *= 2;
        for (size_t i = 0; i < s->n; i++)
            s->point[i] = (s->point[2 * i] + s->point[2 * i + 1]) / 2;
    }
    s->sum += x;
    if (++s->waiting < s->each)
        return;
    s->point[s->n++] = s->sum / (double)s->each;
    s->sum = 0;
    s->waiting = 0;
}

/* Returns the number of points: it can be drawn in no more columns. */
static size_t
count_points(const struct spark *s)
{
    return s->n + (s->waiting > 0);
}

/* The mean of the points of column i of n; the last point may be a mean of
 * fewer values. */
static double
mean_of_column(const struct spark *s, size_t i, size_t n)
{
    const size_t size = count_points(s), from = i * size / n,
                 to = (i + 1) * size / n;
    double sum = 0;

    for (size_t k = from; k < to; k++)
        sum += k < s->n ? s->point[k] : s->sum / (double)s->waiting;
    return sum / (double)(to - from);
}

void
spark_draw(const struct spark *s, size_t columns, int blocks,
           char text[SPARK_TEXT])
{
    const size_t size = count_points(s), n = columns < size ? columns : size;
    double least = INFINITY, most = -INFINITY;
    char *to = text;

    *text = 0;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, mean_of_column(s, i, n));
        most = fmax(most, mean_of_column(s, i, n));
    }
    for (size_t i = 0; i < n; i++) {
        const double x = mean_of_column(s, i, n),
                     share = most > least ? (x - least) / (most - least) : 0.5;
        const int level = share < 1 ? (int)(share * LEVELS) : LEVELS - 1;

        if (!blocks) {
            *to++ = "_.:-=+*#"[level];
            continue;
        }
        *to++ = (char)0xe2;
        *to++ = (char)0x96;
        *to++ = (char)(0x81 + level);
    }
    *to = 0;
}
