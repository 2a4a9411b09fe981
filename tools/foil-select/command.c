#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/origin.h"
#include "select.h"
#include "stage/program.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

/*
 * A request is a line, as `plan epoch=3 seed=0 samples=60000 batches=469
 * size=127 larger=437 dims=128 from=1`, and the features, if there are any, as
 * a .npy file in shared memory.  The answer has a line of ids for each batch.
 * It is saved in the run directory with a digest of the request and features,
 * so a restarted selector has the same plan again, whatever the program does.
 */
enum {
    HEAD = 128,      // bytes before the features
    DIGITS = 20,     // of an id, and the blank after it
    LONGEST = 512,   // bytes of any other line
    PLANS_SAVED = 8, // plans saved, of the latest epochs
    REQUEST = 256,
    PLAN_MOST = 1 << 30, // maximum bytes of a plan's file
};

struct select_command {
    struct stage_program *program;
    const struct select_options *options;
    char *data;
    char *folder; // of saved plans, or NULL
};

/* A plan that is read line by line. */
struct plan_reader {
    const struct select_layout *layout;
    size_t most; // times that a sample may occur; 0: any number
    size_t step;
    int64_t *ids;
    uint32_t *seen; // [N] occurrences of each sample
    size_t *last;   // [N] 1 + the last step with the sample; 0: none
    int wrong;
};

const struct select_strategy select_strategy_command = {
    .name = "command",
    .summary = "plans by a user's program",
    .params = select_params,
    .needs_features = 1,
};

static int
take_id(struct plan_reader *t, int64_t id, struct err *why)
{
    if (id < 0 || (size_t)id >= t->layout->size)
        return err_set(why,
                       "answered sample %" PRId64 " in batch %zu: there are "
                       "0 to %zu",
                       id, t->step, t->layout->size - 1);
    if (t->last[id] == t->step + 1)
        return err_set(why, "answered sample %" PRId64 " twice in batch %zu",
                       id, t->step);
    if (t->most && t->seen[id] == t->most)
        return err_set(why,
                       "answered sample %" PRId64 " %s time, in batch %zu%s",
                       id, t->most > 1 ? "a third" : "a second", t->step,
                       t->most > 1 ? "" : "; --partial allows it");
    t->last[id] = t->step + 1;
    t->seen[id]++;
    return 0;
}

static int
take_ids(struct plan_reader *t, const char *line, struct err *why)
{
    const size_t want = select_layout_count(t->layout, t->step);
    int64_t *to = t->ids + select_layout_start(t->layout, t->step);
    size_t n = 0;

    for (const char *at = line; *(at += strspn(at, " \t,\r"));) {
        char *end;
        long long id;

        errno = 0;
        id = strtoll(at, &end, 10);
        if (end == at || errno || !strchr(" \t,\r", *end))
            return err_set(why,
                           "answered '%.80s' where the ids of batch %zu "
                           "are wanted",
                           line, t->step);
        if (n < want && take_id(t, id, why))
            return -1;
        if (n < want)
            to[n] = id;
        n++;
        at = end;
    }
    if (n != want)
        return err_set(why, "answered %zu ids as batch %zu, which has %zu", n,
                       t->step, want);
    return 0;
}

/* See stage/program.h. */
static int
take_batch(void *of, const char *line, struct err *why)
{
    struct plan_reader *t = of;

    if (t->step == t->layout->steps)
        t->wrong =
            err_set(why, "answered more than %zu batches", t->layout->steps);
    else
        t->wrong = take_ids(t, line, why);
    t->step++;
    return t->wrong;
}

static void
begin_plan(struct plan_reader *t)
{
    t->step = 0;
    t->wrong = 0;
    memset(t->seen, 0, t->layout->size * sizeof *t->seen);
    memset(t->last, 0, t->layout->size * sizeof *t->last);
}

/* Writes the features into shared memory in numpy's .npy format, with rows of
 * nan for samples without features. */
static int
put_features(struct select_command *c, const struct select_task *task,
             struct err *err)
{
    const struct select_features *f = task->features;
    const size_t n = task->layout.size, row = f->d * sizeof(float);
    char *memory = stage_program_memory(c->program, HEAD + 2 * n * row, err);
    const float *view[2] = {f->u, f->v};
    int len;

    if (!memory)
        return -1;
    memset(memory, ' ', HEAD);
    memcpy(memory, "\x93NUMPY\x01\x00", 8);
    memory[8] = HEAD - 10;
    memory[9] = 0;
    len = snprintf(memory + 10, HEAD - 10,
                   "{'descr': '<f4', 'fortran_order': False, "
                   "'shape': (2, %zu, %zu), }",
                   n, f->d);
    memory[10 + len] = ' ';
    memory[HEAD - 1] = '\n';
    for (size_t i = 0; i < 2 * n; i++) {
        char *to = memory + HEAD + i * row;
        const float *x = view[i / n] + i % n * f->d;

        if (!f->known || f->known[i % n])
            memcpy(to, x, row);
        else
            for (size_t k = 0; k < f->d; k++)
                memcpy(to + k * sizeof *x, &(float){NAN}, sizeof *x);
    }
    return 0;
}

/* See stage/program.h: no retry after a wrong answer. */
static int
retry_plan(void *of)
{
    struct plan_reader *t = of;

    if (t->wrong)
        return 0;
    begin_plan(t);
    return 1;
}

void
select_print_plan(FILE *file, const struct select_layout *layout,
                  const int64_t *ids)
{
    for (size_t step = 0; step < layout->steps; step++) {
        const size_t n = select_layout_count(layout, step);
        const int64_t *id = ids + select_layout_start(layout, step);

        for (size_t i = 0; i < n; i++)
            fprintf(file, "%" PRId64 "%c", id[i], i + 1 < n ? ' ' : '\n');
    }
}

/* The digest of all that a plan depends on. */
static void
digest_request(const struct select_command *c, const struct select_task *task,
               const char *line, char hex[DIGEST_HEX])
{
    struct digest_stream *stream = digest_new();
    const struct select_features *f = task->features;

    digest_add(stream, line, strlen(line) + 1);
    digest_add(stream, c->options->command, strlen(c->options->command) + 1);
    digest_add(stream, c->data, strlen(c->data) + 1);
    if (f) {
        digest_add(stream, f->u, task->layout.size * f->d * sizeof *f->u);
        digest_add(stream, f->v, task->layout.size * f->d * sizeof *f->v);
        if (f->known)
            digest_add(stream, f->known, task->layout.size);
    }
    digest_hex(digest_end(stream), hex);
}

/* Loads the saved plan: 1 if it has this key; any other file counts as none. */
static int
load_plan(struct select_command *c, uint64_t epoch, const char *key,
          struct plan_reader *t)
{
    struct err why;
    size_t len;
    char *text = file_read(mem_temp("%s/%" PRIu64, c->folder, epoch), PLAN_MOST,
                           &len, &why);
    char *line, *end;
    int found;

    begin_plan(t);
    line = text ? text : (char *)"";
    end = strchr(line, '\n');
    found = end && (size_t)(end - line) == strlen(key) &&
            !memcmp(line, key, strlen(key));
    for (; found && (line = end + 1, end = strchr(line, '\n'));) {
        *end = 0;
        found = !take_batch(t, line, &why);
    }
    free(text);
    return found && t->step == t->layout->steps;
}

/* Saves the plan and removes an old one; errors are only reported. */
static void
save_plan(struct select_command *c, uint64_t epoch, const char *key,
          const struct plan_reader *t)
{
    struct file_draft draft = {0};
    const char *path = mem_temp("%s/%" PRIu64, c->folder, epoch);
    struct err err;
    int rc = file_mkdir(c->folder, 0700, &err);

    if (!rc)
        rc = file_draft_open(&draft, path, &err);
    if (!rc) {
        fprintf(draft.file, "%s\n", key);
        select_print_plan(draft.file, t->layout, t->ids);
        rc = file_draft_keep(&draft, &err);
    }
    if (rc)
        log_message("%s: this plan is not saved", err.msg);
    if (epoch < PLANS_SAVED)
        return;
    path = mem_temp("%s/%" PRIu64, c->folder, epoch - PLANS_SAVED);
    if (file_exists(path))
        file_remove(path, &err);
}

struct select_command *
select_command_open(const struct select_options *options, const char *data,
                    struct err *err)
{
    struct select_command *c = mem_array(1, sizeof *c);
    const struct stage_program_config config = {
        .name = "strategy",
        .line = options->command,
        .limit_s = options->limit,
        .longest = LONGEST + DIGITS * ((size_t)options->batch + 1),
        .most = SIZE_MAX,
        .print = log_line,
    };

    if (!options->score &&
        run_origin_note(options->stage.run, "select --strategy-command",
                        options->command, err))
        log_message("%s", err->msg);
    c->options = options;
    c->data = mem_text(data);
    if (options->stage.run && !options->score)
        c->folder = mem_format("%s/plans", options->stage.run);
    c->program = stage_program_open(&config, err);
    if (c->program)
        return c;
    select_command_close(c);
    return NULL;
}

void
select_command_close(struct select_command *c)
{
    if (!c)
        return;
    stage_program_close(c->program);
    mem_free(c->data, c->folder, c);
}

int
select_command_order(struct select_command *c, const struct select_task *task,
                     int64_t *ids, struct err *err)
{
    const size_t n = task->layout.size;
    const int wrap = select_layout_total(&task->layout) > n;
    char line[REQUEST], key[DIGEST_HEX];
    struct plan_reader t = {.layout = &task->layout, .ids = ids};
    struct stage_answer answer = {
        .take = take_batch, .retry = retry_plan, .of = &t};
    int rc = 0;

    t.most = c->options->partial ? 0 : wrap ? 2 : 1;
    t.seen = mem_array(n, sizeof *t.seen);
    t.last = mem_array(n, sizeof *t.last);
    snprintf(line, REQUEST,
             "plan epoch=%" PRIu64 " seed=%" PRIu64
             " samples=%zu batches=%zu size=%zu larger=%zu dims=%zu",
             task->epoch, task->seed, n, task->layout.steps, task->layout.batch,
             task->layout.larger, task->features ? task->features->d : 0);
    digest_request(c, task, line, key);
    if (!c->folder || !load_plan(c, task->epoch, key, &t)) {
        rc = task->features ? put_features(c, task, err) : 0;
        begin_plan(&t);
        if (!rc && stage_program_ask_retry(c->program, line, -1, &answer,
                                           err) != STAGE_ANSWERED)
            rc = -1;
        free(answer.ok);
        if (!rc && t.step < task->layout.steps)
            rc = err_set(err,
                         "strategy: '%.100s' answered %zu batches, want %zu",
                         c->options->command, t.step, task->layout.steps);
        if (!rc && c->folder)
            save_plan(c, task->epoch, key, &t);
    }
    if (!rc)
        select_strategy_finish(&select_strategy_command, task, ids);
    mem_free(t.seen, t.last);
    return rc;
}
