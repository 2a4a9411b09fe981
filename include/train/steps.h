#ifndef TRAIN_STEPS_H
#define TRAIN_STEPS_H

#include <stddef.h>
#include <stdio.h>

/*
 * The lines of a run's metrics.jsonl (train/journal.h), one after the other, as
 * they come: once, or again and again while its trainer writes.
 *
 *     struct train_steps steps = {0};
 *
 *     while (train_steps_next(&steps, run, &line))
 *         if (line)
 *             ...; // a step
 *         else
 *             ...; // begin anew
 *     ...
 *     train_steps_release(&steps);
 *
 * A trainer that goes on after a loss cuts off the lines of steps that it does
 * again, and may have written beyond their end before anybody looks.  So the
 * last line that was told is looked for at its place each time: where it is not
 * there any more (each line has its own time), all are told again.  What was
 * told last is what the file has, then.  Not for two threads at once.
 */
struct train_steps {
    FILE *file;  /* while lines are told, or NULL */
    long offset; /* of the file, up to where it was told */
    char *last;  /* the line before it, or NULL */
    size_t len;  /* with its end */
};

/*
 * train_steps_next() returns 1 with a line, without its end, which lasts until
 * the next call; or with NULL, where the lines that were told so far are not
 * all in the file any more: it begins anew.  0 where there is no further whole
 * line yet, or no file.  With an `offset` set before the first call lines begin
 * there.  O(line).
 */
int train_steps_next(struct train_steps *steps, const char *run,
                     const char **line);
void train_steps_release(struct train_steps *steps);

#endif
