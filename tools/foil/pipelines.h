#ifndef FOIL_PIPELINES_H
#define FOIL_PIPELINES_H

#include <stdio.h>

#include "util/guess.h"

/*
 * Pipelines are scripts: those that come with foil, and the user's own.  The
 * former are in ../share/foil/pipelines relative to the program's folder, or in
 * pipelines/ of the checkout with the program in build/x/bin.  A study is a
 * pipeline in studies/ there, named studies/NAME.  Functions that need the
 * folder die if there is none.
 */

/* pipelines_print() lists the pipelines, each with the first line of its
 * comment as a summary. */
void pipelines_print(const char *folder, FILE *out);

/* pipelines_find() returns the path of a pipeline, which the caller frees, or
 * NULL if there is none of that name.  A name that begins with / is the path of
 * a user's pipeline. */
char *pipelines_find(const char *folder, const char *name);

/* pipelines_guess() compares a word with the names of all pipelines. */
void pipelines_guess(const char *folder, struct guess *guess);

/* pipelines_is_script() returns 1 if the first line of the file names another
 * program than foil-run. */
int pipelines_is_script(const char *path);

/* pipelines_export() sets FOIL_PIPELINES, where foil-run finds the commands of
 * scripts. */
void pipelines_export(const char *folder);

/* pipelines_export_python() adds the folder of foil.py to the end of
 * PYTHONPATH, where users' programs look for it. */
void pipelines_export_python(const char *folder);

/* pipelines_remembered() returns the name or path in RUN/command, which the
 * caller frees; it dies if there is none. */
char *pipelines_remembered(const char *run);

#endif
