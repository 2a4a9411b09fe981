#ifndef UTIL_COMMAND_H
#define UTIL_COMMAND_H

#include <stddef.h>

#include "util/err.h"

/*
 * A program of the user's that works for a stage, which keeps the protocol:
 * requests are lines on its standard input, answers lines on its standard
 * output, and arrays lie in memory that both have mapped.
 *
 *     const struct command_config config = {
 *         .name = "strategy", .line = "python3 mine.py", .first = 600,
 *         .patience = 600, .longest = 1 << 20, .most = 100000, .print = show};
 *     struct command *command = command_open(&config, &err);
 *     float *z = command_memory(command, bytes, &err);
 *
 *     switch (command_ask(command, "weigh 512 128", stop, &answer, &err)) {
 *
 * An answer is any number of lines and a last one, "ok", perhaps with more
 * behind it, or "error SENTENCE".
 *
 * `sh -c LINE` runs in a process group of its own, which a terminal's Ctrl-C
 * does not reach: the stage brings its work to an end first.  The program finds
 * the memory at the path in FOIL_MEMORY, descriptor 3, which it may map or
 * open; the stage has to tell it the size.  Each line of its standard error is
 * printed with its name before it while the stage waits for it or sends: 200 in
 * ten seconds; of those above, their number and the last ten.  When the stage's
 * process ends, in whatever way, the program's input ends, and a second later
 * its group is killed, and all processes that have its FOIL_GROUP in their
 * environment.
 *
 * Nothing the program does harms the stage: an answer has to be complete in so
 * many seconds, whatever comes before, its lines are bounded, and it cannot
 * make the memory smaller.
 * SIGPIPE is ignored from the first command_open() on, as by stop_fd().
 *
 * One thread at a time has a command; each may have its own.
 */
struct command;

struct command_config {
    const char *name; /* before its lines, and in sentences: "strategy" */
    const char *line; /* for sh -c */
    double first;     /* seconds that its first answer may take, whole, */
    double patience;  /* for each further one */
    size_t longest;   /* bytes of a line of an answer */
    size_t most;      /* lines of an answer before its last one */

    /* Prints a line: "strategy: no module named 'x'", safe for a terminal
     * (util/defuse.h); a progress line is for it to clear.  NULL: nothing. */
    void (*print)(void *tool, const char *line);
    /* Called ten times a second or more often while an answer is waited for,
     * for what the stage has to do all the time; or NULL. */
    void (*waits)(void *tool);
    void *tool;
};

/* command_open() keeps a copy of the config.  NULL when it cannot be started;
 * a line that names no program shows when it is asked first. */
struct command *command_open(const struct command_config *config,
                             struct err *err);

/*
 * command_close() ends its input, gives it three seconds to end, or one where
 * it owes an answer, SIGTERM and a second more, and kills the processes left of
 * its group. NULL is harmless.
 */
void command_close(struct command *command);

/*
 * command_restart() ends the program as command_close() does, at once where it
 * was lost, and starts it again.  The memory keeps its place and its contents.
 */
int command_restart(struct command *command, struct err *err);

/*
 * command_memory() returns `bytes` of shared memory, zeros at first; with a
 * larger size than before it may move, its contents kept, and the program has
 * to map it again.  Not while it owes an answer.  NULL on error.
 */
void *command_memory(struct command *command, size_t bytes, struct err *err);

/* What is done with the lines of an answer. */
struct command_answer {
    /* Takes a line before the last one, unchecked; returns 0, or -1 with the
     * reason why it is no answer.  NULL: such a line is refused. */
    int (*take)(void *of, const char *line, struct err *err);
    void *of;
    char *ok; /* the words behind "ok", to be given to free(); or NULL */

    /* For command_insist(): the program was lost, so forget the lines taken.
     * Returns 1 to ask again, 0 not to.  NULL: ask again. */
    int (*again)(void *of);
};

enum command_came {
    COMMAND_OK,
    COMMAND_STOPPED, /* `stop` is readable; the answer may still be taken */
    COMMAND_REFUSED, /* "error SENTENCE" came: it is in err, with the name */
    COMMAND_LOST     /* the program died, gave no answer in time or a wrong one:
                        it was killed, and only command_restart() or
                        command_close() are left; err says why, with the name */
};

/*
 * command_send() sends a request, a line without its end, and does not wait:
 * the part that the program does not read yet goes while its answer is waited
 * for.  Up to COMMAND_OWED answers may be outstanding; they come in the order
 * of requests.
 */
enum { COMMAND_OWED = 16 };
void command_send(struct command *command, const char *line);

/*
 * command_take() waits for the next answer.  err is filled in for
 * COMMAND_REFUSED and COMMAND_LOST.
 *   stop  a descriptor that ends the wait when it is readable, or -1
 */
enum command_came command_take(struct command *command, int stop,
                               struct command_answer *answer, struct err *err);

/* command_ask() is command_send(), then command_take(). */
enum command_came command_ask(struct command *command, const char *line,
                              int stop, struct command_answer *answer,
                              struct err *err);

/*
 * command_value() takes the next NAME=NUMBER of the words behind "ok": 1; 0
 * behind the last one; -1 where the next word is no such thing or its name is
 * too long: *words begins with that word then.
 *   words  moves on
 *   name   [size]
 */
int command_value(const char **words, char *name, size_t size, double *number);

/* command_insist() is command_ask(); where the program was lost it is started
 * again, which is printed, and asked once more.  Nothing else may be owed. */
enum command_came command_insist(struct command *command, const char *line,
                                 int stop, struct command_answer *answer,
                                 struct err *err);

#endif
