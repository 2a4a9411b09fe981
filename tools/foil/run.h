#ifndef FOIL_RUN_H
#define FOIL_RUN_H

/*
 * `foil run`: become a pipeline of ours, a script or a list of stages.
 */

/* run_is_path() returns 1 for the path of the user's own stages: ./LIST,
 * ../LIST, /LIST. */
int run_is_path(const char *name);

/*
 * run_pipeline() becomes the pipeline argv[1] with the arguments behind it, or
 * that of the run that is to be resumed; argv[0] is `run`.  FOLDER is that of
 * this program, near which the pipelines are.  It does not return: what cannot
 * be run is said, with exit code 1, or 2 for a wrong name.
 */
_Noreturn void run_pipeline(const char *folder, char **argv);

#endif
