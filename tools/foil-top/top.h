#ifndef FOIL_TOP_H
#define FOIL_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "util/spark.h"
#include "wire/feed.h"

/*
 * The parts of foil-top:
 *
 *   model.c    what is known of a run, from what it says
 *   hear.c     the messages of its trainer, and the steps that it wrote down
 *   page.c     all of it as lines of text
 *   screen.c   the terminal
 */
struct top_stage {
    struct wire_status status; /* the last */
    double heard;              /* when */
    double made, since, rate;  /* batches: when they were counted last */
};

struct top_curve {
    char name[64];
    double last;
    struct spark spark;
};

struct top {
    const char *name; /* of the run, for people */
    long trainer; /* the process that has the run now; 0: none that we see */
    double heard; /* when the trainer said something; 0: never */
    int over;     /* it has said that it stops, */
    char reason[256]; /* because of this */

    int64_t total, epoch; /* steps that are done; the epoch of the last, -1 */
    double images;        /* so far */
    double seconds;       /* of a step, the wait before it included, and */
    double waited;        /* that wait alone: of the latest steps */
    double exchanged;     /* with other ranks; 0: there are none */
    double slowest;       /* the rank that computed for longest, .. */
    double behind;        /* .. by so much longer than the mean of all */

    size_t stages, stage_room, curves, curve_room;
    struct top_stage *stage;
    struct top_curve *curve; /* in the order in which they are shown */
};

/* model.c.  `now` is as clock_now(). */
void top_release(struct top *top);

/* top_step() takes in the numbers of a step. */
void top_step(struct top *top, const struct value *value, size_t n);

/* top_status() takes in how a stage is. */
void top_status(struct top *top, const struct wire_status *status, double now);

/* top_stage() returns the first stage of that name that was heard in the last
 * seconds, or NULL; top_is_there() tells that of one. */
const struct top_stage *top_stage(const struct top *top, const char *name,
                                  double now);
int top_is_there(const struct top_stage *stage, double now);

/* top_value() returns a value of a stage, or NaN. */
double top_value(const struct top_stage *stage, const char *name);

/*
 * hear.c.  top_listen() connects to the events of a run; where it is on this
 * machine, the steps so far are read from its directory.  top_hear() takes in
 * what came: 1 where that was something.  Both die where that fails.
 */
struct top_ear {
    struct wire_keys keys;
    struct wire *wire;
    struct wire_listener *listener;
};

struct top_where {
    const char *run, *events, *keys, *allow;
};

void top_listen(struct top_ear *ear, const struct top_where *where,
                struct top *top);
int top_hear(struct top_ear *ear, struct top *top);
void top_ear_release(struct top_ear *ear);

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
