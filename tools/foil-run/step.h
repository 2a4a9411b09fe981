#ifndef FOIL_RUN_STEP_H
#define FOIL_RUN_STEP_H

#include <stddef.h>

#include "list.h"

/* step_run() runs a command to its end, and ends the process with its exit code
 * where that is not 0.  step_capture() also returns what it prints, without new
 * lines at its end. */
void step_run(char *const *word);
char *step_capture(char *const *word);

/* step_show() prints a command to stderr as it would be typed, broken where it
 * is long, with `end` behind it; step_show_list() each stage of a list. */
void step_show(char *const *word, const char *end);
void step_show_list(const struct list *list);

#endif
