#ifndef STAGE_COMMAND_H
#define STAGE_COMMAND_H

#include "stage/program.h"

/* The program behind an option such as --view-command.  These functions print
 * and end the process: they are for the main thread of a tool alone. */

/* stage_command_open() is stage_program_open() with say_line(); ends the tool
 * where that fails. */
struct stage_program *
stage_command_open(const struct stage_program_config *config);

/*
 * stage_command_ask() is stage_program_insist(): 0 when it was answered, or -1
 * with the reason.  Where the tool is asked to stop it ends with EXIT_OK.
 */
int stage_command_ask(struct stage_program *program, const char *line, int stop,
                      struct stage_answer *answer, struct err *err);

#endif
