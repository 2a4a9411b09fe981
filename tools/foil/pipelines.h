#ifndef FOIL_PIPELINES_H
#define FOIL_PIPELINES_H

#include <stdio.h>

#include "util/guess.h"

/*
 * The pipelines that come with foil: scripts in ../share/foil/pipelines as seen
 * from the folder of the program, or in pipelines/ of the checkout that has it
 * in build/x/bin.  A study is one in studies/ there, and its name begins so.
 * These die where there is no such folder.
 */

/* pipelines_print() lists them, each with the second line of its script, which
 * says what it does. */
void pipelines_print(const char *folder, FILE *out);

/* pipelines_script() returns the script of a pipeline, to be given to free(),
 * or NULL when there is none of that name. */
char *pipelines_script(const char *folder, const char *name);

/* pipelines_guess() compares a word with the names of all pipelines. */
void pipelines_guess(const char *folder, struct guess *guess);

/* pipelines_remembered() returns the name in RUN/command, to be given to
 * free(); it dies when there is none. */
char *pipelines_remembered(const char *run);

#endif
