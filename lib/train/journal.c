#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/metrics.h"
#include "train/journal.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/json.h"
#include "util/mem.h"

void
train_journal_init(struct train_journal *journal,
                   const struct train_listener *listener)
{
    *journal = (struct train_journal){.listener = *listener, .file = -1};
}

int
train_journal_open(struct train_journal *journal, const char *run,
                   const struct train_state *state, struct err *err)
{
    journal->run = run;
    journal->state = state;
    journal->started = clock_now();
    journal->first = state->total;
    journal->first_images = state->images;
    journal->file = run_metrics_append(run, state->total, err);
    return journal->file < 0 ? -1 : 0;
}

void
train_journal_close(struct train_journal *journal)
{
    if (journal->file >= 0)
        close(journal->file);
    journal->file = -1;
}

/* Clears the line of progress and prints a message. */
static void
print_message(struct train_journal *journal, const struct err *text)
{
    progress_clear(&journal->progress);
    journal->listener.message(journal->listener.self, text->msg);
}

/* Adds a number to the line, if it is finite, and to the list. */
static void
add_value(json_t *line, struct values *values, const char *name, double x)
{
    json_object_set_new(line, name, json_real(x));
    values_add(values, name, x);
}

static void
add_count(json_t *line, struct values *values, const char *name, int64_t x)
{
    json_object_set_new(line, name, json_integer(x));
    values_add_count(values, name, x);
}

static void
add_place(json_t *line, struct values *values, const struct train_state *state,
          const struct batch *batch)
{
    add_count(line, values, "total", state->total);
    add_count(line, values, "epoch", batch->epoch);
    add_count(line, values, "step", batch->step);
}

static void
add_plan(json_t *line, struct values *values, const struct train_plan *plan)
{
    json_t *object = json_object();

    json_object_set_new(object, "strategy", json_string(plan->strategy));
    for (size_t i = 0; i < plan->values.n; i++) {
        const struct value *v = &plan->values.value[i];

        json_object_set_new(object, v->name, json_real(v->value));
        values_add(values, mem_temp("plan.%.58s", v->name), v->value);
    }
    json_object_set_new(line, "plan", object);
}

/* The loss of the objective, and InfoNCE if it differs. */
static void
write_loss(const struct loss_report *loss, char text[64])
{
    char value[24], infonce[24];

    snprintf(value, sizeof value, "%.4f", loss->value);
    snprintf(infonce, sizeof infonce, "%.4f", loss->infonce);
    snprintf(text, 64, "loss %s", value);
    if (strcmp(value, infonce))
        snprintf(text, 64, "loss %s  infonce %s", value, infonce);
}

void
train_journal_begin(struct train_journal *journal, int64_t steps)
{
    progress_start(&journal->progress, "steps", (double)journal->first,
                   (double)steps);
    if (journal->exchanging) // count steps only
        journal->exchanged = *journal->exchanging;
}

/* Prints epochs from 1. */
static void
show_progress(struct train_journal *journal, int64_t epoch)
{
    const struct train_state *state = journal->state;
    char loss[64], more[128];
    int n = snprintf(more, sizeof more, "epoch %jd", (intmax_t)epoch + 1);

    if (state->epochs)
        n += snprintf(more + n, sizeof more - (size_t)n, "/%jd",
                      (intmax_t)state->epochs);
    write_loss(&journal->last, loss);
    snprintf(more + n, sizeof more - (size_t)n, "  %s", loss);
    progress_show(&journal->progress, (double)state->total, more);
}

void
train_journal_step(struct train_journal *journal, const struct batch *batch,
                   const struct train_result *result,
                   const struct train_plan *plan)
{
    const struct train_state *state = journal->state;
    const struct train_listener *listener = &journal->listener;
    struct values values = {0};
    json_t *line = json_object();
    struct err why;
    char *text;

    if (result->outcome == TRAIN_APPLIED)
        journal->last = result->loss;
    add_place(line, &values, state, batch);
    if (result->reason)
        json_object_set_new(line, "refused", json_string(result->reason));
    for (size_t i = 0; i < result->values.n; i++) {
        const struct value *v = &result->values.value[i];

        if (v->whole)
            add_count(line, &values, v->name, (int64_t)v->value);
        else
            add_value(line, &values, v->name, v->value);
    }
    add_place(line, &values, state, batch); // a program reports any names
    if (journal->ended_step)
        json_object_set_new(line, "ended",
                            json_pack("{s:I, s:I}", "epoch",
                                      (json_int_t)journal->ended_epoch, "step",
                                      (json_int_t)journal->ended_step));
    journal->ended_step = 0;
    if (plan)
        add_plan(line, &values, plan);
    add_count(line, &values, "images", state->images);
    add_count(line, &values, "substituted", (int64_t)batch->n_substituted);
    add_value(line, &values, "seconds", result->seconds);
    add_value(line, &values, "waited", journal->waited);
    if (journal->exchanging) {
        add_value(line, &values, "exchanged",
                  *journal->exchanging - journal->exchanged);
        journal->exchanged = *journal->exchanging;
        add_count(line, &values, "slowest_rank",
                  (int64_t)journal->slowest.rank);
        add_value(line, &values, "rank_lag", journal->slowest.excess);
    }
    add_value(line, &values, "time", (double)clock_wall() * 1e-9);
    journal->waited = 0;
    text = json_line(line);
    // one write: a reader never sees half of a line
    if (file_append(journal->file, text, strlen(text), "metrics.jsonl", &why) &&
        tally_add(&journal->unwritten, &why))
        print_message(journal, &why);
    free(text);
    json_decref(line);
    if (listener->line)
        listener->line(listener->self, &values);
    show_progress(journal, batch->epoch);
}

int
train_journal_nonfinite(struct train_journal *journal,
                        const struct batch *batch, const char *reason,
                        struct err *err)
{
    json_t *ids = json_array(), *object;
    int rc;

    for (size_t i = 0; i < batch->b; i++)
        json_array_append_new(ids, json_integer(batch->ids[i]));
    object = json_pack("{s:I, s:I, s:s, s:o}", "epoch",
                       (json_int_t)batch->epoch, "step",
                       (json_int_t)batch->step, "reason", reason, "ids", ids);
    rc = run_lines_append(journal->run, "nonfinite.jsonl", object, err);
    json_decref(object);
    return rc;
}

/* Adds a count with its noun, unless it is 0. */
static void
add_times(char text[128], int64_t n, const char *one, const char *more)
{
    const size_t len = strlen(text);

    if (n)
        snprintf(text + len, 128 - len, "; %jd %s", (intmax_t)n,
                 n == 1 ? one : more);
}

void
train_journal_end(struct train_journal *journal, int64_t saved)
{
    const struct train_state *state = journal->state;
    const double seconds = clock_now() - journal->started;
    const int64_t images = state->images - journal->first_images;
    const int64_t steps = state->total - journal->first;
    char loss[64], odd[128] = "", step[32] = "";
    struct err line;

    write_loss(&journal->last, loss);
    add_times(odd, state->substituted, "image replaced", "images replaced");
    add_times(odd, state->skipped, "step skipped", "steps skipped");
    add_times(odd, state->steps_without_service,
              "without the negatives service", "without the negatives service");
    if (saved != state->total)
        snprintf(step, sizeof step, "step %jd is ", (intmax_t)saved);
    err_set(&line, "%jd step%s, %jd image%s in %.1f s (%.0f/s), %s%s; %s",
            (intmax_t)steps, steps == 1 ? "" : "s", (intmax_t)images,
            images == 1 ? "" : "s", seconds,
            seconds > 0 ? (double)images / seconds : 0, loss, odd,
            saved > 0 ? mem_temp("%ssaved in '%s/latest'", step, journal->run)
                      : "not saved");
    print_message(journal, &line);
}

static int
journal_prepare(void *self, struct err *err)
{
    const struct train_journal *journal = self;

    return fsync(journal->file) ? err_sys(err, "cannot sync metrics.jsonl") : 0;
}

struct train_part
train_journal_part(struct train_journal *journal)
{
    return (struct train_part){.self = journal, .prepare = journal_prepare};
}
