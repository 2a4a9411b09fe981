#pragma once

/* A user's program that a test starts and sends requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stage/program.h"

static struct err err;

/* Lines that were printed or taken, joined by '|'. */
struct text {
    char at[4096];
    size_t lines;
};

static inline int
add_line(void *of, const char *line, struct err *why)
{
    struct text *text = of;
    const size_t n = strlen(text->at);

    text->lines++;
    snprintf(text->at + n, sizeof text->at - n, "%s|", line);
    return strcmp(line, "no") ? 0 : err_set(why, "answered 'no' of all things");
}

static inline void
print(void *tool, const char *line)
{
    add_line(tool, line, &err);
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

/* Sends a request to a running program, and takes its lines. */
static inline enum stage_outcome
ask(struct stage_program *c, const char *line, struct text *text, char ok[64])
{
    struct stage_answer answer = {.take = add_line, .of = text};
    const enum stage_outcome outcome =
        stage_program_ask(c, line, -1, &answer, &err);

    *text = outcome == STAGE_ANSWERED ? *text : (struct text){{0}, 0};
    snprintf(ok, 64, "%s", answer.ok ? answer.ok : "(none)");
    free(answer.ok);
    return outcome;
}
