#ifndef FOIL_RUN_COMMANDS_H
#define FOIL_RUN_COMMANDS_H

/*
 * The commands for pipeline scripts that are written in C.  Each is a file of
 * pipelines/bin that executes `foil-run --NAME ARG...`; see foil-run(1).
 */

/* With --stages, a script ends with this exit code once its list is printed. */
enum { EXIT_LISTED = 99 };

/* commands_main() runs the command argv[1] and does not return; it returns if
 * that is no command. */
void commands_main(char **argv);

#endif
