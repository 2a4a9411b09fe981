#ifndef FOIL_PIPELINES_H
#define FOIL_PIPELINES_H

#include <stdio.h>

#include "util/guess.h"

/*
 * Pipelines are scripts: those that come with foil, and the user's own.  The
 * former are in ../share/foil/pipelines as seen from the folder of the program,
 * or in pipelines/ of the checkout that has it in build/x/bin.  A study is one
 * in studies/ there, and its name begins so.  What looks into that folder dies
 * where there is none.
 */

/* pipelines_print() lists them, each with the first line of its comment, which
 * says what it does. */
void pipelines_print(const char *folder, FILE *out);

/* pipelines_find() returns the file of a pipeline, to be given to free(), or
 * NULL when there is none of that name.  A name that begins with / is the path
 * of one of the user's own. */
char *pipelines_find(const char *folder, const char *name);

/* pipelines_guess() compares a word with the names of all pipelines. */
void pipelines_guess(const char *folder, struct guess *guess);

/* pipelines_is_script() returns 1 for a script that foil-run does not run: its
 * first line names another program. */
int pipelines_is_script(const char *path);

/* pipelines_tell() sets FOIL_PIPELINES, where foil-run finds the commands of
 * scripts. */
void pipelines_tell(const char *folder);

/* pipelines_offer_python() adds the folder of foil.py to the end of PYTHONPATH,
 * where programs of the user's own look for it. */
void pipelines_offer_python(const char *folder);

/* pipelines_remembered() returns the name or path in RUN/command, to be given
 * to free(); it dies when there is none. */
char *pipelines_remembered(const char *run);

#endif
