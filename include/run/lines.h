#pragma once

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"
#include "util/json.h"

/*
 * Reads the lines of a file in a run directory, such as metrics.jsonl, also
 * while a program appends to it:
 *
 *     struct run_lines lines = {0};
 *
 *     while (run_lines_next(&lines, run, "metrics.jsonl", &line))
 *         if (line)
 *             ...; // a line
 *         else
 *             ...; // start over
 *     ...
 *     run_lines_release(&lines);
 *
 * A trainer that resumes from a checkpoint truncates the lines of steps that
 * it repeats, and may append others before the next read.  So each call first
 * checks that the last returned line is still at its offset (each line has its
 * own time); if not, all lines are returned again.  Only regular files are
 * read; a line of 1 MiB or more counts as incomplete.  Not thread-safe.
 */
struct run_lines {
    FILE *file;  /* open between two lines, or NULL */
    long offset; /* just after the last returned line */
    char *last;  /* that line */
    char *next;  /* buffer for the next line */
    size_t len;  /* bytes of `last`, including '\n'; 0: none */
};

/*
 * run_lines_next() returns 1 with a line, without '\n', valid until the next
 * call; 1 with NULL if lines returned so far are no longer all in the file, and
 * the next call returns the first line; 0 if there is no complete line yet, or
 * no file.  O(line).
 *   name  of the file in `run`; the same in all calls
 */
int run_lines_next(struct run_lines *lines, const char *run, const char *name,
                   const char **line);

/* run_lines_skip(), called before run_lines_next(), skips all but the last
 * `most` bytes of the file; the first line may then lack its beginning. */
void run_lines_skip(struct run_lines *lines, const char *run, const char *name,
                    long most);
void run_lines_release(struct run_lines *lines);

/*
 * run_lines_append() appends an object as a line to RUN/NAME, and creates the
 * file if needed: 0 or -1.  It is one write, so lines of several writers do not
 * mix; a '\n' comes first if the last line is incomplete because its writer
 * died.
 */
int run_lines_append(const char *run, const char *name, const json_t *object,
                     struct err *err);
