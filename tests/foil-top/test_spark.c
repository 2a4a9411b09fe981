#include <string.h>

#include "foil-top/top.h"
#include "t.h"

static const char levels[] = "_.:-=+*#"; // from low to high
static char text[SPARK_TEXT];

static const char *
drawn(const struct spark *spark, size_t columns, int blocks)
{
    spark_draw(spark, columns, blocks, text);
    return text;
}

/* Counts the characters of a text in UTF-8. */
static size_t
characters(const char *utf8)
{
    size_t n = 0;

    for (; *utf8; utf8++)
        n += (*utf8 & 0xc0) != 0x80;
    return n;
}

static void
few(void)
{
    struct spark spark = {0};

    T(!*drawn(&spark, 40, 0), "no value is no curve");
    spark_add(&spark, 3);
    T(!strcmp(drawn(&spark, 40, 0), "="), "one value is in the middle");
    T(!*drawn(&spark, 0, 0), "no column has no curve");
    for (int i = 4; i <= 10; i++)
        spark_add(&spark, i);
    T(!strcmp(drawn(&spark, 40, 0), "_.:-=+*#"),
      "eight that rise have all levels");
    T(!strcmp(drawn(&spark, 40, 1), "▁▂▃▄▅▆▇█"), "as blocks, too");
    T(!strcmp(drawn(&spark, 4, 0), "_:+#"),
      "with fewer columns, a column is a mean");
    spark_add(&spark, NAN);
    spark_add(&spark, -INFINITY);
    T(strlen(drawn(&spark, 40, 0)) == 8,
      "values that are not finite are ignored");
}

/* Adds n values of a line from 0 to 1. */
static void
many(size_t n)
{
    struct spark spark = {0};
    int rises = 1;
    size_t points;

    for (size_t i = 0; i < n; i++)
        spark_add(&spark, (double)i / (double)n);
    points = strlen(drawn(&spark, SPARK_POINTS + 1, 0));
    T(points <= SPARK_POINTS && 2 * points >= SPARK_POINTS,
      "%zu values fill half of the points or more", n);
    drawn(&spark, 60, 0);
    for (const char *c = text; c[1]; c++)
        rises &= strchr(levels, c[1]) >= strchr(levels, *c);
    T(strlen(text) == 60 && rises && *text == '_' && text[59] == '#',
      "%zu values that rise are a curve that rises", n);
    T(characters(drawn(&spark, 200, 1)) == 200, "on 200 columns, too");
}

/* The weighted mean of all points is the mean of all values. */
static void
mean(void)
{
    struct spark spark = {0};
    double sum = 0, points = 0;
    const size_t n = 1000;

    for (size_t i = 0; i < n; i++) {
        const double x = sin((double)i);

        spark_add(&spark, x);
        sum += x;
    }
    for (size_t i = 0; i < spark.n; i++)
        points += spark.point[i] * (double)spark.each;
    T_NEAR(points + spark.sum, sum, 1e-12, "no value is lost or counted twice");
}

int
main(void)
{
    few();
    many(SPARK_POINTS);
    many(SPARK_POINTS + 1);
    many(100000);
    mean();
    return t_done();
}
