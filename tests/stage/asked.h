#ifndef TESTS_STAGE_ASKED_H
#define TESTS_STAGE_ASKED_H

/* A program of the user's that a test starts and asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/program.h"

static struct err err;

/* What was printed, or taken as lines, one behind the other. */
struct text {
    char at[4096];
    size_t lines;
};

static inline int
keep(void *of, const char *line, struct err *why)
{
    struct text *text = of;
    const size_t n = strlen(text->at);

    text->lines++;
    snprintf(text->at + n, sizeof text->at - n, "%s|", line);
    return strcmp(line, "no") ? 0 : err_set(why, "said 'no' of all things");
}

static inline void
print(void *tool, const char *line)
{
    keep(tool, line, &err);
}

static inline struct stage_program *
start(const char *line, struct text *printed, double limit_s)
{
    const struct stage_program_config config = {
        .name = "mine",
        .line = line,
        .limit_s = limit_s,
        .longest = 1000,
        .most = 50,
        .print = printed ? print : NULL,
        .tool = printed,
    };
    struct stage_program *c = stage_program_open(&config, &err);

    REQUIRE(c);
    return c;
}

/* Asks a program that is there, and takes its lines. */
static inline enum stage_outcome
ask(struct stage_program *c, const char *line, struct text *text, char ok[64])
{
    struct stage_answer answer = {.take = keep, .of = text};
    const enum stage_outcome outcome =
        stage_program_ask(c, line, -1, &answer, &err);

    *text = outcome == STAGE_ANSWERED ? *text : (struct text){{0}, 0};
    snprintf(ok, 64, "%s", answer.ok ? answer.ok : "(none)");
    free(answer.ok);
    return outcome;
}

#endif
