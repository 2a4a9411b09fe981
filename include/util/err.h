#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Errors: a message, one sentence, about a fault of the outside world.
 *
 * A function that can fail takes a struct err * last and returns 0 or -1 (or an
 * object or NULL).  On failure the message is filled in; on success it is
 * untouched.  Nothing under lib/ prints or exits.  A wrong assumption of our
 * own code is not an error but a bug: REQUIRE() aborts the process.
 */
struct err {
    char msg[512];
};

/*
 * err_set() writes the message and returns -1, so that a failing function can
 * end with `return err_set(err, ...)`.  Small first letter, no full stop, the
 * subject in single quotes, the reason last, and what to do if that is not
 * obvious: "cannot open 'a.tar': No such file or directory".
 */
int err_set(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* err_sys() is err_set() with ": " and the text of errno added. */
int err_sys(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * err_name() reports an unknown name, lists the known ones, which list(0),
 * list(1), ... return before NULL, and returns -1: "no strategy 'x': there are
 * shuffle replace".
 *
 *     what   the noun, "strategy"
 *     len    bytes of the name, of which up to 40 are shown
 */
int err_name(struct err *err, const char *what, const char *name, size_t len,
             const char *(*list)(size_t i));

/* plural() returns the ending of a noun after a count, "" if n is 1, else "s":
 *
 *     log_message("'%s': %zu image%s", path, n, plural(n));
 */
const char *plural(size_t n);

/* Counts a repeated message, so that only some occurrences are logged. */
struct tally {
    uint64_t n;
};

/* tally_add() counts an occurrence.  Returns 1 if it should be logged, for the
 * 1st, 2nd, 4th, 8th ..., with the count added to the message; else 0. */
int tally_add(struct tally *tally, struct err *why);

/* REQUIRE() checks an assumption of our own code.  It is never compiled out. */
#define REQUIRE(cond) \
    ((cond) ? (void)0 : err_bug(__FILE__, __LINE__, __func__, #cond))

_Noreturn void err_bug(const char *file, int line, const char *func,
                       const char *cond);
