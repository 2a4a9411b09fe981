#pragma once

#include <stddef.h>
#include <stdint.h>

#include "run/live.h"
#include "run/results.h"
#include "stage/stage.h"

/*
 * The parts of foil-top:
 *
 *   model.c    the state of a run: steps in its folder, and messages from its
 *              trainer
 *   page.c     the state as lines of text
 *   screen.c   the terminal
 *   spark.c    a curve in a line of text
 */

/* A curve of any length in fixed memory, drawn in one line of text; a zeroed
 * struct is empty.  It has up to SPARK_POINTS points, each the mean of `each`
 * values. When they are full, each two neighbours are merged. */
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

struct top_curve {
    char name[64];
    double last;
    struct spark spark;
};

struct top {
    const char *name; /* of the run, to print */
    long trainer;     /* process that holds the run's lock; 0: none */
    struct run_live live;

    int64_t total, epoch; /* steps done; epoch of the last, or -1 */
    double images;        /* so far */
    /* Seconds of a step, as means of recent steps. */
    double seconds;   /* all, with the wait before it */
    double waited;    /* that wait */
    double exchanged; /* between ranks; 0: no ranks */
    double excess;    /* of the slowest rank, above the mean of all ranks */

    double slowest;                /* the slowest rank of the newest step */
    char result[RUN_RESULTS_TEXT]; /* of the newest epoch with one, or "" */

    size_t curves, curve_room;
    struct top_curve *curve; /* in the order of display */
};

/* model.c: top_open() connects to the events of a run, at an endpoint or in
 * its directory, and reads earlier steps from the directory, if known.  Dies on
 * error.  top_read() reads all new messages. */
void top_open(struct top *top, struct stage *stage, const char *events);
void top_read(struct top *top);
void top_close(struct top *top);

/* top_stage() returns the first stage of that name with a recent status, or
 * NULL; top_is_alive() returns 1 if a stage has one.  `now` is as clock_now().
 */
const struct run_stage *top_stage(const struct top *top, const char *name,
                                  double now);
int top_is_alive(const struct run_stage *stage, double now);

/*
 * page.c: top_page() returns the state as text, which the caller frees: at
 * most `rows` lines, 0: any number, of at most `columns` characters.
 *   blocks   1: curves of U+2581 .. U+2588; 0: of ASCII characters
 */
char *top_page(const struct top *top, double now, size_t columns, size_t rows,
               int blocks);

/* screen.c: top_screen_open() sets up the terminal; top_screen_close()
 * restores it, and also runs at exit.  top_screen_show() draws a text.
 * top_screen_key() returns a typed key, or 0. */
void top_screen_open(void);
void top_screen_close(void);
void top_screen_show(const char *text);
int top_screen_key(void);
