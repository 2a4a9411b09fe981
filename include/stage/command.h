#ifndef STAGE_COMMAND_H
#define STAGE_COMMAND_H

#include "stage/program.h"

/* The program behind an option such as --view-command.  These functions print
 * and end the process: they are for the main thread of a tool alone. */

/* stage_command_open() is stage_program_open() that prints with
 * log_line(), and ends the tool if it fails. */
struct stage_program *
stage_command_open(const struct stage_program_config *config);

/*
 * stage_command_ask() is stage_program_ask_retry(): 0 with an answer, or -1
 * with the reason.  Ends the tool with EXIT_OK when `stop` is readable.
 */
int stage_command_ask(struct stage_program *program, const char *line, int stop,
                      struct stage_answer *answer, struct err *err);

#endif
