#ifndef FOIL_RUN_H
#define FOIL_RUN_H

/*
 * `foil run`: executes a pipeline of foil, a script or a list of stages.
 */

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

#endif
