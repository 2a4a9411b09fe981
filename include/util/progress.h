#ifndef UTIL_PROGRESS_H
#define UTIL_PROGRESS_H

/*
 * One line that says how far a long job is: count, what the tool adds, time
 * left, rate, share.  It goes to stderr: where that is a terminal it is drawn
 * again and again, at most five times a second, as far as the width of the
 * terminal allows; in a log it is a sentence of the tool, once a minute, so
 * that a shorter job stays quiet.
 */
struct progress {
    const char *unit;    /* what is counted: "steps", "images" */
    double total;        /* how many there will be; 0: not known */
    double start, first; /* clock_now() and count when it began */
    double shown;        /* clock_now() when the line was last written; or 0 */
    double said;         /* in a log: when a line was due last */
    int terminal, drawn;
};

/* progress_start() is called when the work begins, not when its first piece is
 * done; `first` is the count that is done already. */
void progress_start(struct progress *p, const char *unit, double first,
                    double total);

/*
 * progress_show() shows that the count is `done`.  `more` are fields with two
 * blanks between them, such as "epoch 3/100  loss 4.51" (may be "").  On a
 * terminal that is too narrow, the first field that has no room is left out,
 * with all behind it.  Rate and time left, by the mean since progress_start(),
 * are shown from the second time on.
 */
void progress_show(struct progress *p, double done, const char *more);

/* progress_clear() wipes the line, before something else is printed. */
void progress_clear(struct progress *p);

#endif
