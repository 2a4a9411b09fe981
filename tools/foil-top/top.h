#ifndef FOIL_TOP_H
#define FOIL_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "run/live.h"
#include "stage/stage.h"
#include "util/spark.h"

/*
 * The parts of foil-top:
 *
 *   model.c    what is known of a run: the steps that its trainer wrote down,
 *              and what it publishes
 *   page.c     all of it as lines of text
 *   screen.c   the terminal
 */
struct top_curve {
    char name[64];
    double last;
    struct spark spark;
};

struct top {
    const char *name; /* of the run, for people */
    long trainer; /* the process that has the run now; 0: none that we see */
    struct run_live live;

    int64_t total, epoch; /* steps that are done; the epoch of the last, -1 */
    double images;        /* so far */
    double seconds;       /* of a step, the wait before it included, and */
    double waited;        /* that wait alone: of the latest steps */
    double exchanged;     /* with other ranks; 0: there are none */
    double slowest;       /* the rank that computed for longest, .. */
    double behind;        /* .. by so much longer than the mean of all */

    size_t curves, curve_room;
    struct top_curve *curve; /* in the order in which they are shown */
};

/*
 * model.c: top_open() connects to the events of a run, at an endpoint or in its
 * directory, and reads the steps so far from the directory, where that is
 * known.  It dies where that fails.  top_read() reads the messages that came.
 */
void top_open(struct top *top, struct stage *stage, const char *events);
void top_read(struct top *top);
void top_close(struct top *top);

/* top_stage() returns the first stage of that name that was heard in the last
 * seconds, or NULL; top_is_there() tells that of one.  `now` is as clock_now().
 */
const struct run_stage *top_stage(const struct top *top, const char *name,
                                  double now);
int top_is_there(const struct run_stage *stage, double now);

/*
 * page.c: top_page() returns what is known as text, to be given to free():
 * lines of at most `columns` characters, at most `rows` of them; 0: any number.
 *   blocks   curves by U+2581 .. U+2588; 0: by ASCII characters
 */
char *top_page(const struct top *top, double now, size_t columns, size_t rows,
               int blocks);

/*
 * screen.c: top_screen_open() takes the terminal, top_screen_close() leaves it
 * as it was, which happens in die(), too.  top_screen_show() draws a text.
 * top_screen_key() returns a key that was typed, or 0.
 */
void top_screen_open(void);
void top_screen_close(void);
void top_screen_show(const char *text);
int top_screen_key(void);

#endif
