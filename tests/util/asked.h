#ifndef TESTS_UTIL_ASKED_H
#define TESTS_UTIL_ASKED_H

/* A program of the user's that a test starts and asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/command.h"

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

static inline struct command *
start(const char *line, struct text *printed, double patience)
{
    const struct command_config config = {
        .name = "mine",
        .line = line,
        .first = patience < 1 ? patience : 60,
        .patience = patience,
        .longest = 1000,
        .most = 50,
        .print = printed ? print : NULL,
        .tool = printed,
    };
    struct command *c = command_open(&config, &err);

    REQUIRE(c);
    return c;
}

/* Asks a program that is there, and takes its lines. */
static inline enum command_came
ask(struct command *c, const char *line, struct text *text, char ok[64])
{
    struct command_answer answer = {.take = keep, .of = text};
    const enum command_came came = command_ask(c, line, -1, &answer, &err);

    *text = came == COMMAND_OK ? *text : (struct text){{0}, 0};
    snprintf(ok, 64, "%s", answer.ok ? answer.ok : "(none)");
    free(answer.ok);
    return came;
}

#endif
