#ifndef FOIL_RUN_STEP_H
#define FOIL_RUN_STEP_H

#include <stddef.h>

#include "list.h"

/* step_run() runs a command and waits; if its exit code is not 0, ends the
 * process with that.  step_capture() also returns its output, without trailing
 * newlines. */
void step_run(char *const *word);
char *step_capture(char *const *word);

/* step_show() prints a command to stderr as a user would type it, with long
 * lines broken, followed by `end`; step_show_list() each stage of a list. */
void step_show(char *const *word, const char *end);
void step_show_list(const struct list *list);

#endif
