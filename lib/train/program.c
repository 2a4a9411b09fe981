#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "util/mem.h"

enum { TENSORS = 10000, ALIGN = 64 };

struct train_program *
train_program_open(const char *line, double limit_s,
                   void (*print)(void *tool, const char *line), struct err *err)
{
    struct train_program *p = mem_array(1, sizeof *p);
    const struct stage_program_config config = {.name = "encoder",
                                                .line = line,
                                                .limit_s = limit_s,
                                                .most = TENSORS,
                                                .print = print};

    p->line = mem_text(line);
    p->program = stage_program_open(&config, err);
    if (p->program)
        return p;
    train_program_close(p);
    return NULL;
}

void
train_program_close(struct train_program *p)
{
    if (!p)
        return;
    stage_program_close(p->program);
    free(p->line);
    free(p);
}

int
train_program_failed(const struct train_program *p)
{
    return p->failed;
}

size_t
train_program_grow(struct train_program *p, size_t bytes, struct err *err)
{
    const size_t at = p->size ? p->size : ALIGN; // 0 means failure
    const size_t size = at + (bytes + ALIGN - 1) / ALIGN * ALIGN;
    char *memory = stage_program_memory(p->program, size, err);

    if (!memory)
        return 0;
    p->memory = memory;
    p->size = size;
    return at;
}

/* --------------------------------------------------- requests and answers */

/* Takes the answer to the oldest request. */
static int
take_answer(struct train_program *p, struct stage_answer *answer,
            struct err *err)
{
    if (!p->failed &&
        stage_program_take(p->program, -1, answer, &p->why) != STAGE_ANSWERED)
        p->failed = 1;
    p->pending--;
    if (!p->failed)
        return 0;
    *err = p->why;
    return -1;
}

/* Takes and drops all pending answers except the last `keep`. */
static int
take_answers(struct train_program *p, size_t keep, struct err *err)
{
    int rc = 0;

    while (!rc && p->pending > keep) {
        struct stage_answer answer = {0};

        rc = take_answer(p, &answer, err);
        free(answer.ok);
    }
    return rc;
}

void
train_program_send(struct train_program *p, char *line)
{
    struct err copy; // of p->why

    if (!p->failed && strchr(line, '\n')) {
        err_set(&p->why, "encoder: the name of a file has a line end, which "
                         "cannot be sent to a program");
        p->failed = 1;
    }
    if (!p->failed && p->pending == STAGE_PENDING)
        take_answers(p, STAGE_PENDING - 1, &copy);
    if (!p->failed) {
        stage_program_send(p->program, line);
        p->pending++;
    }
    free(line);
}

int
train_program_request(struct train_program *p, char *line,
                      struct stage_answer *answer, struct err *err)
{
    answer->ok = NULL;
    train_program_send(p, line);
    if (p->failed) {
        *err = p->why;
        return -1;
    }
    if (take_answers(p, 1, err) || take_answer(p, answer, err))
        return -1;
    if (!answer->ok)
        answer->ok = mem_text("");
    return 0;
}

int
train_program_fail(struct train_program *p, const struct err *err)
{
    p->failed = 1;
    p->why = *err;
    return -1;
}

static int
is_in_range(double x, const struct train_number *want)
{
    return !(x < want->low || x > want->high) &&
           (isfinite(x) || isinf(want->high)) &&
           (!want->whole || x == floor(x));
}

int
train_program_number(struct train_program *p, const char *words,
                     const struct train_number *want, double *number,
                     struct err *err)
{
    const size_t n = strlen(want->name);
    char *end, range[64];
    int len;

    *number = 0;
    for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
        if (!strncmp(words, want->name, n) && words[n] == '=')
            break;
        words += strcspn(words, " ");
    }
    if (!*words)
        return 0;
    *number = strtod(words + n + 1, &end);
    if (end > words + n + 1 && (!*end || *end == ' ') &&
        is_in_range(*number, want))
        return 1;
    len = (int)strcspn(words, " ");
    if (isinf(want->high))
        snprintf(range, sizeof range, "%.0f or more", want->low);
    else
        snprintf(range, sizeof range, "%.0f to %.0f", want->low, want->high);
    err_set(err, "encoder: '%.100s' answered %.*s: want a %s, %s", p->line,
            len < 60 ? len : 60, words, want->whole ? "whole number" : "number",
            range);
    return train_program_fail(p, err);
}
