#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "run/results.h"
#include "stage/stage.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"

enum { LONGEST = 1 << 20 }; // bytes of an answer

static int
take_judgement(void *of, const char *line, struct err *err)
{
    json_t **answer = of;
    struct err why;

    *answer = json_parse(line, strlen(line), "answer", &why);
    return *answer
               ? 0
               : err_set(err, "answered '%.80s', which is no object in JSON",
                         line);
}

/* See stage/stage.h. */
static int
forget_judgement(void *of)
{
    json_t **answer = of;

    json_decref(*answer);
    *answer = NULL;
    return 1;
}

void
judge_start(struct judge *judge)
{
    const struct stage_program_config config = {
        .name = "judge",
        .line = judge->line,
        .limit_s = judge->limit,
        .longest = LONGEST,
        .most = 1,
    };

    if (strchr(judge->run, '\n')) // a request is a line
        die("the name of '%s' contains a line end: rename the run", judge->run);
    judge->program = stage_command_open(&config);
}

/* Adds the answer as a result; fields set here replace those of the answer. */
static void
add_judgement(const struct judge *judge, long step, json_t *answer)
{
    char manifest[DIGEST_HEX];
    struct err err;

    json_object_set_new(answer, "measure", json_string("command"));
    json_object_set_new(answer, "command", json_string(judge->line));
    if (run_results_manifest(judge->run, step, manifest, &err) ||
        run_results_add(judge->run, step, manifest, answer, &err))
        die("%s", err.msg);
}

int
judge_ask(const struct judge *judge, const char *checkpoint, long step)
{
    char *line = mem_format("judge step=%ld %s", step, checkpoint);
    enum stage_outcome outcome;
    json_t *result = NULL;
    struct stage_answer answer = {
        .take = take_judgement, .retry = forget_judgement, .of = &result};
    struct err err;

    outcome = stage_program_ask_retry(judge->program, line, judge->stop,
                                      &answer, &err);
    free(answer.ok);
    if (outcome == STAGE_LOST || outcome == STAGE_REFUSED)
        die("%s", err.msg);
    free(line);
    if (outcome == STAGE_ANSWERED && !result)
        die("judge: '%s' answered no line of JSON", judge->line);
    if (outcome == STAGE_ANSWERED)
        add_judgement(judge, step, result);
    json_decref(result);
    return outcome == STAGE_ANSWERED ? 1 : -1;
}
