#ifndef RUN_LINES_H
#define RUN_LINES_H

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"
#include "util/json.h"

/*
 * The lines of a file of a run directory, such as metrics.jsonl, one after the
 * other, as they come: once, or again and again while a program appends.
 *
 *     struct run_lines lines = {0};
 *
 *     while (run_lines_next(&lines, run, "metrics.jsonl", &line))
 *         if (line)
 *             ...; // a line
 *         else
 *             ...; // begin anew
 *     ...
 *     run_lines_release(&lines);
 *
 * A trainer that goes on from a checkpoint cuts off the lines of steps that it
 * does again, and may have written further ones before the next look.  So each
 * time the last line that was returned is looked for at its offset: where it is
 * not there any more (each line has its own time), all lines are returned
 * again.  A pipe or a device is no file, and a line of 1 MiB or more has no
 * end. Not for two threads at once.
 */
struct run_lines {
    FILE *file;  /* open between two lines, or NULL */
    long offset; /* behind the last line that was returned */
    char *last;  /* that line */
    char *next;  /* room for the one behind it */
    size_t len;  /* bytes of the last one, with its end; 0: there is none */
};

/*
 * run_lines_next() returns 1 with a line, without its end, which lasts until
 * the next call; 1 with NULL, where the lines returned so far are not all in
 * the file any more: the next call begins with the first line; 0 where there is
 * no further whole line yet, or no file.  O(line).
 *   name  of the file in RUN; the same in all calls
 */
int run_lines_next(struct run_lines *lines, const char *run, const char *name,
                   const char **line);

/* run_lines_skip(), before the first call, passes over all but the last `most`
 * bytes that the file has now; the first line may be the end of one, then. */
void run_lines_skip(struct run_lines *lines, const char *run, const char *name,
                    long most);
void run_lines_release(struct run_lines *lines);

/*
 * run_lines_append() writes an object as the last line of RUN/NAME, which is
 * made where it is not there: 0 or -1.  It is one write, so that lines of
 * several writers do not mix; an empty line comes before it where a writer died
 * within its own.
 */
int run_lines_append(const char *run, const char *name, const json_t *object,
                     struct err *err);

#endif
