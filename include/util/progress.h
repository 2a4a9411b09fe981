#ifndef UTIL_PROGRESS_H
#define UTIL_PROGRESS_H

/*
 * One line on a terminal that says how far a long job is: share done, rate,
 * time left.  It writes to stderr, at most five times a second, and only
 * where stderr is a terminal: a log stays quiet.  It is cut to the width that
 * the terminal has.
 */
struct progress {
    const char *unit;    /* what is counted: "steps", "images" */
    double total;        /* how many there will be; 0: not known */
    double start, first; /* when, and at which count, it began */
    double shown;        /* when the line was last written */
    int on, drawn;
};

/* progress_start() begins, with the work, not with its first piece done;
 * `first` is the count that is done already. */
void progress_start(struct progress *p, const char *unit, double first,
                    double total);

/*
 * progress_show() redraws the line: done of total, and `more` behind it, such
 * as "loss 4.51" (may be "").  Rate and time left, from the beginning on, are
 * in it from the second time on.
 */
void progress_show(struct progress *p, double done, const char *more);

/* progress_clear() wipes the line, before something else is printed. */
void progress_clear(struct progress *p);

#endif
