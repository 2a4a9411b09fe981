#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "t.h"
#include "train/journal.h"
#include "util/file.h"
#include "util/json.h"

static char messages[4096];
static struct values published;

static void
on_message(void *self, const char *sentence)
{
    (void)self;
    snprintf(messages + strlen(messages), sizeof messages - strlen(messages),
             "%s\n", sentence);
}

static void
on_line(void *self, const struct values *values)
{
    (void)self;
    published = *values;
}

static const struct train_listener listener = {NULL, on_message, on_line};

static struct train_journal
begin(const struct train_state *state)
{
    struct train_journal journal;
    struct err err;

    messages[0] = 0;
    train_journal_init(&journal, &listener);
    if (train_journal_open(&journal, ".", state, &err))
        printf("# %s\n", err.msg);
    return journal;
}

/* Writes the lines of steps up to `total`. */
static void
steps(struct train_journal *journal, struct train_state *state, int64_t total)
{
    struct train_result result = {.outcome = TRAIN_APPLIED,
                                  .loss = {.value = 0.75, .infonce = 0.75}};
    struct batch batch = {.n_substituted = 2};

    values_add(&result.values, "loss", 0.75);
    values_add_count(&result.values, "moved", 12);
    while (state->total < total) {
        batch.step = state->total++;
        state->images += 8;
        train_journal_step(journal, &batch, &result, NULL);
    }
}

/* Returns the number of lines, and the last one as an object. */
static size_t
lines(const char *path, json_t **last)
{
    struct err err = {""};
    size_t len = 0, n = 0;
    char *text = file_read(path, 1 << 20, &len, &err), *line = text;

    *last = NULL;
    for (char *end;
         text && (end = memchr(line, '\n', len - (size_t)(line - text)));
         line = end + 1) {
        json_decref(*last);
        *last = json_parse(line, (size_t)(end - line), path, &err);
        n += *last != NULL;
    }
    if (text && line != text + len)
        printf("# '%s' does not end with a line\n", path);
    free(text);
    return n;
}

static double
number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* A user's program reports numbers of any name. */
static void
a_line_keeps_its_own_fields(void)
{
    struct train_state state = {.total = 7};
    struct train_journal journal = begin(&state);
    struct train_result result = {.outcome = TRAIN_APPLIED};
    const struct batch batch = {.epoch = 2, .step = 3};
    json_t *last;

    values_add(&result.values, "total", 0.5);
    values_add(&result.values, "step", -1);
    values_add(&result.values, "seconds", 1e9);
    train_journal_step(&journal, &batch, &result, NULL);
    T(lines("metrics.jsonl", &last) == 1 && number(last, "total") == 7 &&
          number(last, "epoch") == 2 && number(last, "step") == 3 &&
          number(last, "seconds") == 0,
      "a program's number does not replace a field of the line");
    T(published.n == json_object_size(last), "each name is published once");
    json_decref(last);
    train_journal_close(&journal);
    T(!unlink("metrics.jsonl"), "it is deleted");
}

static void
a_line_has_the_outcome_of_a_step(void)
{
    struct train_state state = {0};
    struct train_journal journal = begin(&state);
    json_t *last;

    journal.waited = 0.5;
    steps(&journal, &state, 3);
    T(lines("metrics.jsonl", &last) == 3, "three steps are three lines");
    T(number(last, "total") == 3 && number(last, "step") == 2 &&
          number(last, "loss") == 0.75 && number(last, "moved") == 12 &&
          number(last, "images") == 24 && number(last, "substituted") == 2,
      "with step, values and images");
    T(json_is_integer(json_object_get(last, "moved")), "a count is whole");
    T(number(last, "waited") == 0, "`waited` is of one step");
    T(published.n == json_object_size(last) &&
          value_find(published.value, published.n, "loss") == 0.75 &&
          value_find(published.value, published.n, "total") == 3,
      "the listener gets the same numbers");
    train_journal_end(&journal, 3);
    messages[strcspn(messages, "\n")] = 0;
    T(strstr(messages, "3 steps, 24 images") &&
          strstr(messages, "loss 0.7500;") && strstr(messages, "; saved"),
      "the end is printed: %s", messages);
    json_decref(last);
    train_journal_close(&journal);
}

static void
lines_of_repeated_steps_are_removed(void)
{
    struct train_state state = {.total = 2, .images = 16};
    struct train_journal journal = begin(&state);
    json_t *last;

    T(lines("metrics.jsonl", &last) == 2 && number(last, "total") == 2,
      "a run that resumes after the second step keeps two of three lines");
    json_decref(last);
    steps(&journal, &state, 5);
    T(lines("metrics.jsonl", &last) == 5 && number(last, "total") == 5,
      "a run that resumes appends to the lines that it keeps");
    json_decref(last);
    train_journal_end(&journal, -1);
    T(strstr(messages, "3 steps, 24 images") && strstr(messages, "not saved"),
      "its end counts its own steps");
    messages[0] = 0;
    train_journal_end(&journal, 4);
    T(strstr(messages, "; step 4 is saved in '"),
      "an older checkpoint is named: %s", messages);
    train_journal_close(&journal);
}

/* A file as after two months: 64 GB, mostly a hole. */
static void
a_long_file_is_not_read(void)
{
    static const char tail[] = "\n{\"total\":7}\n{\"total\":8}\n{\"tot";
    const off_t before = (off_t)1 << 36;
    const struct train_state state = {.total = 7};
    struct train_journal journal;
    struct err err = {""};
    FILE *file = fopen("metrics.jsonl", "w");

    T(file && !fseeko(file, before, SEEK_SET) && fputs(tail, file) >= 0 &&
          !fclose(file),
      "a file of 64 GB");
    train_journal_init(&journal, &listener);
    T(!train_journal_open(&journal, ".", &state, &err),
      "a file of 64 GB is opened: %s", err.msg);
    T(lseek(journal.file, 0, SEEK_END) == before + 13,
      "the file is cut after the line of the step");
    train_journal_close(&journal);
    T(!unlink("metrics.jsonl"), "it is deleted");
}

static void
a_plan_is_in_the_line_of_its_first_step(void)
{
    struct train_state state = {.total = 5};
    struct train_journal journal = begin(&state);
    struct train_result result = {.outcome = TRAIN_APPLIED};
    struct train_plan plan = {.strategy = "swap"};
    json_t *last;

    values_add(&plan.values, "swaps", 40);
    state.total++;
    train_journal_step(&journal, &(struct batch){0}, &result, &plan);
    lines("metrics.jsonl", &last);
    T(number(json_object_get(last, "plan"), "swaps") == 40 &&
          !strcmp(json_string_value(json_object_get(
                      json_object_get(last, "plan"), "strategy")),
                  "swap"),
      "the plan is an object of the line");
    T(value_find(published.value, published.n, "plan.swaps") == 40,
      "the listener gets a value of the plan as plan.NAME");
    json_decref(last);
    train_journal_close(&journal);
}

static void
a_step_that_was_not_applied_is_recorded(void)
{
    const int64_t ids[] = {4, 2};
    struct train_state state = {.total = 6};
    struct train_journal journal = begin(&state);
    const struct batch batch = {.epoch = 1, .step = 3, .b = 2, .ids = ids};
    const struct train_result result = {.outcome = TRAIN_SKIPPED,
                                        .reason = "the loss is not finite"};
    struct err err;
    json_t *last;

    state.total++;
    train_journal_step(&journal, &batch, &result, NULL);
    lines("metrics.jsonl", &last);
    T(!strcmp(json_string_value(json_object_get(last, "refused")),
              result.reason) &&
          !json_object_get(last, "loss"),
      "its line has the reason and no loss");
    json_decref(last);
    T(!train_journal_nonfinite(&journal, &batch, result.reason, &err) &&
          lines("nonfinite.jsonl", &last) == 1 && number(last, "epoch") == 1 &&
          json_integer_value(json_array_get(json_object_get(last, "ids"), 1)) ==
              2,
      "nonfinite.jsonl has the ids");
    json_decref(last);
    train_journal_close(&journal);
}

/* In a process with a limit on the size of files. */
static void
on_a_full_disk(const void *arg)
{
    struct train_state state = {.total = 7};
    struct train_journal journal = begin(&state);
    struct rlimit limit;

    (void)arg;
    signal(SIGXFSZ, SIG_IGN);
    limit.rlim_cur = limit.rlim_max =
        (rlim_t)lseek(journal.file, 0, SEEK_END) + 9;
    setrlimit(RLIMIT_FSIZE, &limit);
    steps(&journal, &state, 10);
    fputs(messages, stderr);
}

static void
a_full_disk_breaks_no_line(void)
{
    const struct child c = child_run(on_a_full_disk, NULL);
    json_t *last;

    T(strstr(c.err, "cannot write to metrics.jsonl: disk full\n"),
      "it is reported");
    T(strstr(c.err, "(2 so far)") && !strstr(c.err, "(3 so far)"),
      "the first time, the second and the fourth");
    T(lines("metrics.jsonl", &last) == 7 && number(last, "total") == 7,
      "the file ends with the last complete line");
    json_decref(last);
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    a_line_keeps_its_own_fields();
    a_line_has_the_outcome_of_a_step();
    lines_of_repeated_steps_are_removed();
    a_plan_is_in_the_line_of_its_first_step();
    a_step_that_was_not_applied_is_recorded();
    a_full_disk_breaks_no_line();
    a_long_file_is_not_read();
    T(!unlink("nonfinite.jsonl") && !chdir("/") && !rmdir(scratch),
      "nothing else was written");
    return t_done();
}
