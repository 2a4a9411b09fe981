#include <stdlib.h>

#include "stage/command.h"
#include "util/opt.h"

struct stage_program *
stage_command_open(const struct stage_program_config *config)
{
    struct stage_program_config printing = *config;
    struct stage_program *program;
    struct err err;

    printing.print = log_line;
    program = stage_program_open(&printing, &err);
    if (!program)
        die("%s", err.msg);
    return program;
}

int
stage_command_ask(struct stage_program *program, const char *line, int stop,
                  struct stage_answer *answer, struct err *err)
{
    const enum stage_outcome outcome =
        stage_program_ask_retry(program, line, stop, answer, err);

    if (outcome == STAGE_STOPPED) {
        log_stopped();
        exit(EXIT_OK);
    }
    return outcome == STAGE_ANSWERED ? 0 : -1;
}
