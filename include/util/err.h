#ifndef UTIL_ERR_H
#define UTIL_ERR_H

#include <stddef.h>

/*
 * Errors: what the outside world did wrong, in one sentence.
 *
 * A function that can fail takes a struct err * last and returns 0 or -1 (or
 * an object or NULL).  On failure the sentence is filled in; on success it is
 * untouched.  Nothing under lib/ prints or exits.  A broken promise of our
 * own code is not an error: it is a bug, and REQUIRE() stops the process.
 */
struct err {
    char msg[512];
};

/*
 * err_set() writes the sentence and returns -1, so that a failing function
 * can end with `return err_set(err, ...)`.  Small first letter, no full stop,
 * the subject in single quotes, the reason last, and what to do where that is
 * not plain: "cannot open 'a.tar': No such file or directory".
 */
int err_set(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* err_sys() is err_set() with ": " and the text of errno added. */
int err_sys(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * err_name() says that a name is none of those that list(0), list(1), ...
 * return before NULL, and returns -1: "no strategy 'x': there are shuffle
 * replace".
 *
 *     what   the noun, "strategy"
 *     len    bytes of the name, of which up to 40 are shown
 */
int err_name(struct err *err, const char *what, const char *name, size_t len,
             const char *(*list)(size_t i));

/* plural() returns the ending of a noun after a count, "" if n is 1, else "s":
 *
 *     say("'%s': %zu image%s", path, n, plural(n));
 */
const char *plural(size_t n);

/* REQUIRE() checks a promise of our own code.  It is never compiled out. */
#define REQUIRE(cond) \
    ((cond) ? (void)0 : err_bug(__FILE__, __LINE__, __func__, #cond))

_Noreturn void err_bug(const char *file, int line, const char *func,
                       const char *cond);

#endif
