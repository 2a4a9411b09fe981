#ifndef FOIL_RUN_COMMANDS_H
#define FOIL_RUN_COMMANDS_H

/*
 * The commands of a pipeline's script that are in C.  Each is a file of
 * pipelines/bin that becomes `foil-run --NAME ARG...`; foil-run(1) describes
 * them.
 */

/* The exit code by which --stages ends a script once its list is printed. */
enum { EXIT_LISTED = 99 };

/* commands_main() runs the command argv[1] and does not return; it returns
 * where that is none. */
void commands_main(char **argv);

#endif
