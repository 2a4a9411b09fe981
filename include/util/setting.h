#ifndef UTIL_SETTING_H
#define UTIL_SETTING_H

#include <stddef.h>

#include "util/err.h"

/*
 * Settings: names with their values, in the order in which they were set, and
 * their files, a line "NAME VALUE" each: those of --config, RUN/command and
 * STUDY/settings.  In a value \\ and \n stand for a backslash and a new line;
 * blanks around the name, a carriage return at the end of a line, empty lines
 * and lines that begin with # have no meaning.
 *
 *     struct settings settings = {0};
 *     setting_set(&settings, "epochs", "20");
 *     text = setting_text(&settings);
 *     setting_release(&settings);
 *
 * Not for two threads at once.  Finding a name is O(n).
 */
struct setting {
    char *name, *value; /* value: "" where the line has a name alone */
    int line;           /* where it stands in its file, from 1; 0: in none */
};

struct settings {
    struct setting *item;
    size_t n, room;
};

/* setting_get() returns the first value of a name, which lives until that name
 * is set again; or NULL. */
const char *setting_get(const struct settings *settings, const char *name);

/* setting_set() gives a name a value, in the place of the one it had. */
void setting_set(struct settings *settings, const char *name,
                 const char *value);

/*
 * setting_read() adds the lines of a file of at most 1 MiB; a name that comes
 * twice makes two settings.  -1 on error, and nothing is added.
 */
int setting_read(struct settings *settings, const char *path, struct err *err);

/* setting_text() returns the lines of such a file, to be given to free(): all
 * such files are written by it. */
char *setting_text(const struct settings *settings);

/* setting_release() frees all; the settings are empty then. */
void setting_release(struct settings *settings);

#endif
