#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * Settings: names with their values, in the order in which they were set, and
 * their files, with a line "NAME VALUE" each: those of --config, RUN/command
 * and STUDY/settings.  In a value \\ and \n are escapes of a backslash and a
 * newline.  Blanks around the name, a carriage return at the end of a line,
 * empty lines and lines that begin with # are ignored.
 *
 * Settings of zeros are empty.  Not thread-safe.  Finding a name is O(n).
 */
struct setting {
    char *name, *value; /* value: "" if the line has only a name */
    int line;           /* in its file, from 1; 0: not from a file */
};

struct settings {
    struct setting *item;
    size_t n, room;
};

/* setting_get() returns the first value of a name, which lives until that name
 * is set again, or NULL; setting_set() sets it, replacing an old one. */
const char *setting_get(const struct settings *settings, const char *name);
void setting_set(struct settings *settings, const char *name,
                 const char *value);

/* setting_read() adds the lines of a file of at most 1 MiB; a repeated name
 * makes two settings.  On error -1, and nothing is added. */
int setting_read(struct settings *settings, const char *path, struct err *err);

/* setting_text() returns the lines of such a file; all these files are written
 * by it.  The caller frees them. */
char *setting_text(const struct settings *settings);

/* setting_release() frees all; the settings are empty then. */
void setting_release(struct settings *settings);
