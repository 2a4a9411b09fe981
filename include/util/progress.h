#pragma once

/*
 * One line with the progress of a long job: count, fields of the tool, time
 * left, rate, percentage.  It goes to stderr: on a terminal it is redrawn at
 * most five times a second, cut to the width of the terminal; in a log it is a
 * message once a minute, so a shorter job prints none.
 */
struct progress {
    const char *unit;    /* what is counted: "steps", "images" */
    double total;        /* the final count; 0: not known */
    double start, first; /* clock_now() and count at the start */
    double drawn_at;     /* clock_now() when the line was last written; or 0 */
    double logged;       /* clock_now() at the last line of a log, or start */
    int terminal, drawn;
};

/* progress_start() is called when the work begins, not after its first piece;
 * `first` is the count that is already done. */
void progress_start(struct progress *p, const char *unit, double first,
                    double total);

/*
 * progress_show() shows the count `done`.  `more` are fields separated by two
 * blanks, such as "epoch 3/100  loss 4.51" (may be "").  On a narrow terminal,
 * the first field that does not fit and all after it are left out.  Rate and
 * time left, by the mean since progress_start(), are shown from the second call
 * on.
 */
void progress_show(struct progress *p, double done, const char *more);

/* progress_clear() wipes the line, before something else is printed. */
void progress_clear(struct progress *p);
