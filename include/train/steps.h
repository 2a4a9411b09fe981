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
 * A trainer that goes on from a checkpoint cuts off the lines of steps that it
 * does again, and may have written further ones before the next look.  So each
 * time the last line that was returned is looked for at its offset: where it is
 * not there any more (each line has its own time), all lines are returned
 * again.  A pipe or a device is no file, and a line of 1 MiB or more has no
 * end. Not for two threads at once.
 */
struct train_steps {
    FILE *file;  /* open between two lines, or NULL */
    long offset; /* behind the last line that was returned */
    char *last;  /* that line */
    char *next;  /* room for the one behind it */
    size_t len;  /* bytes of the last one, with its end; 0: there is none */
};

/*
 * train_steps_next() returns 1 with a line, without its end, which lasts until
 * the next call; 1 with NULL, where the lines returned so far are not all in
 * the file any more: the next call begins with the first line; 0 where there is
 * no further whole line yet, or no file.  With an `offset` set before the first
 * call lines begin there.  O(line).
 */
int train_steps_next(struct train_steps *steps, const char *run,
                     const char **line);
void train_steps_release(struct train_steps *steps);

#endif
