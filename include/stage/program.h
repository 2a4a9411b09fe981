#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * A user's program that works for a stage: requests are lines on its standard
 * input, answers are lines on its standard output, and arrays are in shared
 * memory.
 *
 *     const struct stage_program_config config = {
 *         .name = "strategy", .line = "python3 mine.py", .limit_s = 600,
 *         .longest = 1 << 20, .most = 100000, .print = show};
 *     struct stage_program *program = stage_program_open(&config, &err);
 *     float *z = stage_program_memory(program, bytes, &err);
 *
 *     outcome =
 *         stage_program_ask(program, "weigh 512 128", stop, &answer, &err);
 *
 * An answer is any number of lines and a last one: "ok", perhaps with more
 * words, or "error SENTENCE".
 *
 * `sh -c LINE` runs in its own session (stage/process.h), so Ctrl-C does not
 * reach it: the stage can finish its work first.  The shared memory is
 * descriptor 3, whose path is in FOIL_MEMORY; the program may map or open it,
 * and requests contain its size.  While the stage sends or waits, each line of
 * the program's standard error is printed after its name: 200 in ten seconds,
 * then only the number of lines left out and the last ten.  When the stage's
 * process ends, in whatever way, the program's input ends; a second later its
 * group is killed, with all processes that have its FOIL_GROUP in their
 * environment.
 *
 * The program cannot harm the stage: an answer must be complete within a time
 * limit, its lines are bounded, and the memory cannot shrink.  SIGPIPE is
 * ignored from the first stage_program_open() on, as by stop_fd().
 *
 * A program is for one thread at a time.
 */
struct stage_program;

struct stage_program_config {
    const char *name; /* a prefix in messages: "strategy" */
    const char *line; /* for sh -c */
    double limit_s;   /* seconds for a whole answer */
    size_t longest;   /* maximum bytes of an answer's line; 0: 4096 */
    size_t most;      /* maximum lines before the last of an answer */

    /* Prints a line: "strategy: no module named 'x'", safe for a terminal
     * (util/terminal.h); it must clear a progress line.  NULL: prints nothing.
     */
    void (*print)(void *tool, const char *line);
    /* Called at least ten times a second while waiting for an answer, for the
     * stage's other work; or NULL. */
    void (*on_wait)(void *tool);
    void *tool;
};

/* stage_program_open() copies the config and the line, but not the name.  NULL
 * with a message if it cannot be started; an unknown command is reported with
 * the first request. */
struct stage_program *
stage_program_open(const struct stage_program_config *config, struct err *err);

/* stage_program_close() closes its input, waits three seconds, or one if an
 * answer is pending, sends SIGTERM, waits a second, and kills the rest of its
 * group.  NULL is allowed. */
void stage_program_close(struct stage_program *program);

/* stage_program_restart() ends the program as stage_program_close() does, at
 * once if it was lost, and starts it again.  Address and contents of the memory
 * stay. */
int stage_program_restart(struct stage_program *program, struct err *err);

/*
 * stage_program_memory() returns `bytes` of shared memory, initially zero.  A
 * larger size than before keeps the contents but may move the memory; the
 * program must map it again.  Not while an answer is pending.  NULL on error.
 */
void *stage_program_memory(struct stage_program *program, size_t bytes,
                           struct err *err);

/* Handles the lines of an answer. */
struct stage_answer {
    /* Gets each line before the last one, unchecked; returns 0, or -1 with the
     * reason to refuse it.  NULL: all such lines are refused. */
    int (*take)(void *of, const char *line, struct err *err);
    void *of;
    char *ok; /* the words after "ok", freed by the caller; or NULL */

    /* For stage_program_ask_retry(): the program was lost, so drop its lines.
     * Returns 1 to retry, else 0.  NULL: retry. */
    int (*retry)(void *of);
};

enum stage_outcome {
    STAGE_ANSWERED,
    STAGE_STOPPED, /* `stop` is readable; stage_program_take() may go on */
    STAGE_REFUSED, /* it answered "error SENTENCE": in err, with the name */
    STAGE_LOST /* it died, or its answer was late or malformed; it was killed:
                  call only stage_program_restart() or stage_program_close()
                  next; err has the reason, with the name */
};

/* stage_program_send() sends a request, a line without '\n', and does not
 * wait: what the program has not read yet is sent while waiting for its answer.
 * Up to STAGE_PENDING answers may be pending, in the order of requests. */
enum { STAGE_PENDING = 16 };
void stage_program_send(struct stage_program *program, const char *line);

/*
 * stage_program_take() waits for the next answer.  err is set for
 * STAGE_REFUSED and STAGE_LOST.
 *   stop  a descriptor that ends the wait when it is readable, or -1
 */
enum stage_outcome stage_program_take(struct stage_program *program, int stop,
                                      struct stage_answer *answer,
                                      struct err *err);

/* stage_program_ask() is stage_program_send(), then stage_program_take(). */
enum stage_outcome stage_program_ask(struct stage_program *program,
                                     const char *line, int stop,
                                     struct stage_answer *answer,
                                     struct err *err);

/* stage_program_ask_retry() is stage_program_ask(); if the program is lost, it
 * prints that, restarts the program and asks once more.  No other answer may be
 * pending. */
enum stage_outcome stage_program_ask_retry(struct stage_program *program,
                                           const char *line, int stop,
                                           struct stage_answer *answer,
                                           struct err *err);

/*
 * stage_program_value() parses the next NAME=NUMBER of the words after "ok".
 * Returns 1; 0 at the end; -1 if the next word has another form or its name is
 * too long, and then *words begins with that word.
 *   words  advances past the parsed word
 *   name   [size]
 */
int stage_program_value(const char **words, char *name, size_t size,
                        double *number);
