#ifndef STAGE_PROGRAM_H
#define STAGE_PROGRAM_H

#include <stddef.h>

#include "util/err.h"

/*
 * A program of the user's that works for a stage, by lines and shared memory:
 * requests are lines on its standard input, answers lines on its standard
 * output, and arrays lie in memory that both have mapped.
 *
 *     const struct stage_program_config config = {
 *         .name = "strategy", .line = "python3 mine.py", .limit_s = 600,
 *         .longest = 1 << 20, .most = 100000, .print = show};
 *     struct stage_program *program = stage_program_open(&config, &err);
 *     float *z = stage_program_memory(program, bytes, &err);
 *
 *     switch (stage_program_ask(program, "weigh 512 128", stop, &answer, &err))
 * {
 *
 * An answer is any number of lines and a last one, "ok", perhaps with more
 * behind it, or "error SENTENCE".
 *
 * `sh -c LINE` runs in a session of its own (stage/process.h), so that Ctrl-C
 * does not reach it: the stage brings its work to an end first.  The program
 * finds the memory at the path in FOIL_MEMORY, descriptor 3, which it may map
 * or open; requests tell it the size.  Each line of its standard error is
 * printed with its name before it while the stage waits for it or sends: 200 in
 * ten seconds; of those above, their number and the last ten.  When the stage's
 * process ends, in whatever way, the program's input ends, and a second later
 * its group is killed, and all processes that have its FOIL_GROUP in their
 * environment.
 *
 * Nothing the program does harms the stage: an answer has to be complete in so
 * many seconds, whatever comes before, its lines are bounded, and it cannot
 * make the memory smaller. SIGPIPE is ignored from the first
 * stage_program_open() on, as by stop_fd().
 *
 * One thread at a time has a program; each may have its own.
 */
struct stage_program;

struct stage_program_config {
    const char *name; /* before its lines, and in sentences: "strategy" */
    const char *line; /* for sh -c */
    double limit_s;   /* seconds that a whole answer may take */
    size_t longest;   /* bytes of a line of an answer; 0: 4096 */
    size_t most;      /* lines of an answer before its last one */

    /* Prints a line: "strategy: no module named 'x'", safe for a terminal
     * (util/defuse.h); a progress line is for it to clear.  NULL: nothing. */
    void (*print)(void *tool, const char *line);
    /* Called ten times a second or more often while an answer is waited for,
     * for what the stage has to do all the time; or NULL. */
    void (*waits)(void *tool);
    void *tool;
};

/* stage_program_open() copies the config and the line; the name must stay.
 * NULL when it cannot be started; a line that names no program shows when it is
 * asked first. */
struct stage_program *
stage_program_open(const struct stage_program_config *config, struct err *err);

/*
 * stage_program_close() ends its input, gives it three seconds to end, or one
 * where an answer is pending, SIGTERM and a second more, and kills the
 * processes left of its group.  NULL is harmless.
 */
void stage_program_close(struct stage_program *program);

/*
 * stage_program_restart() ends the program as stage_program_close() does, at
 * once where it was lost, and starts it again.  The memory keeps its place and
 * its contents.
 */
int stage_program_restart(struct stage_program *program, struct err *err);

/*
 * stage_program_memory() returns `bytes` of shared memory, zeros at first; with
 * a larger size than before it may move, its contents kept, and the program has
 * to map it again.  Not while an answer is pending.  NULL on error.
 */
void *stage_program_memory(struct stage_program *program, size_t bytes,
                           struct err *err);

/* What is done with the lines of an answer. */
struct stage_answer {
    /* Takes a line before the last one, unchecked; returns 0, or -1 with the
     * reason why it is no answer.  NULL: such a line is refused. */
    int (*take)(void *of, const char *line, struct err *err);
    void *of;
    char *ok; /* the words behind "ok", to be given to free(); or NULL */

    /* For stage_program_insist(): the program was lost, so forget the lines
     * taken.  Returns 1 to ask again, 0 not to.  NULL: ask again. */
    int (*again)(void *of);
};

enum stage_outcome {
    STAGE_ANSWERED,
    STAGE_STOPPED, /* `stop` is readable; the answer may still be taken */
    STAGE_REFUSED, /* "error SENTENCE" came: it is in err, with the name */
    STAGE_LOST     /* the program died, gave no answer in time or a wrong one:
                      it was killed, and only stage_program_restart() or
                      stage_program_close() are left; err says why, with the
                      name */
};

/*
 * stage_program_send() sends a request, a line without its end, and does not
 * wait: the part that the program does not read yet goes while its answer is
 * waited for.  Up to STAGE_PENDING answers may be pending; they come in the
 * order of requests.
 */
enum { STAGE_PENDING = 16 };
void stage_program_send(struct stage_program *program, const char *line);

/*
 * stage_program_take() waits for the next answer.  err is filled in for
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

/* stage_program_insist() is stage_program_ask(); where the program was lost it
 * is started again, which is printed, and asked once more.  No other answer may
 * be pending. */
enum stage_outcome stage_program_insist(struct stage_program *program,
                                        const char *line, int stop,
                                        struct stage_answer *answer,
                                        struct err *err);

/*
 * stage_program_value() takes the next NAME=NUMBER of the words behind "ok": 1;
 * 0 behind the last one; -1 where the next word is no such thing or its name is
 * too long: *words begins with that word then.
 *   words  moves on
 *   name   [size]
 */
int stage_program_value(const char **words, char *name, size_t size,
                        double *number);

#endif
