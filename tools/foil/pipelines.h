#pragma once

#include <stdio.h>

/*
 * Pipelines are scripts: those that come with foil, and the user's own.  The
 * former are in ../share/foil/pipelines relative to the program's folder, or in
 * pipelines/ of the checkout with the program in build/x/bin.  A study is a
 * pipeline in studies/ there, named studies/NAME.  Functions that need the
 * folder die if there is none.
 */

/* pipelines_print() lists the pipelines, each with the first line of its
 * comment. */
void pipelines_print(const char *folder, FILE *out);

/* pipelines_find() returns the path of a pipeline, which is never freed, or
 * NULL if there is none of that name.  A name that begins with / is the path of
 * a user's pipeline. */
char *pipelines_find(const char *folder, const char *name);

/* pipelines_export_python() adds the folder of foil.py to the end of
 * PYTHONPATH, where users' programs look for it. */
void pipelines_export_python(const char *folder);

/* run_is_path() returns 1 for the path of a user's list or script: ./LIST,
 * ../LIST, /LIST. */
int run_is_path(const char *name);

/*
 * run_pipeline() executes the pipeline argv[1] with the arguments after it, or
 * the pipeline of the run to resume; argv[0] is `run`.  `folder` is the
 * program's; pipelines are found relative to it.  Does not return: on error it
 * prints why and ends with exit code 1, or 2 for a wrong name.
 */
_Noreturn void run_pipeline(const char *folder, char **argv);
