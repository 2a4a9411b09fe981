#include <stdlib.h>

#include "data/npy.h"
#include "num/threads.h"
#include "num/vec.h"
#include "select.h"
#include "select/score.h"
#include "select/strategy.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"

/* Reads features from a file, scaled to unit length, [*n,*d]. */
static float *
read_rows(const char *path, size_t *n, size_t *d)
{
    struct data_npy npy;
    struct err err;
    float *row;

    or_die(data_npy_read(path, &npy, &err), &err);
    *n = npy.shape[0];
    *d = npy.shape[1];
    row = npy.rank == 2 ? data_npy_reals(&npy, &err) : NULL;
    if (!row)
        die("'%s' is no matrix of features", path);
    data_npy_release(&npy);
    if (!num_finite(*n * *d, row))
        die("'%s' has a number that is not finite", path);
    num_unit_rows(*n, *d, row, row, NULL);
    return row;
}

/* Writes the loss of each batch, a line each. */
static void
write_losses(const char *path, const struct select_task *task,
             const int64_t *ids)
{
    const struct select_layout *layout = &task->layout;
    const struct select_features *f = task->features;
    float *work = mem_array(
        select_batch_work(select_layout_count(layout, 0), f->d), sizeof *work);
    struct file_draft draft;
    struct err err;

    or_die(file_draft_open(&draft, path, &err), &err);
    for (size_t step = 0; step < layout->steps; step++)
        fprintf(draft.file, "%.9g\n",
                select_batch_loss(f, task->value[SELECT_TAU],
                                  select_layout_count(layout, step),
                                  ids + select_layout_start(layout, step),
                                  work));
    or_die(file_draft_keep(&draft, &err), &err);
    free(work);
}

static json_t *
measure_plan(const struct select_task *task, const int64_t *ids)
{
    struct wire_plan about = {0};
    json_t *object = json_object();

    select_measure(&about, "", task, ids);
    for (size_t i = 0; i < about.n; i++)
        json_object_set_new(object, about.values[i].name,
                            json_real(about.values[i].value));
    return object;
}

static void
print_score(const struct select_options *o, const struct select_task *task,
            const int64_t *ids, double seconds)
{
    const size_t total = select_layout_total(&task->layout);
    int64_t *random = mem_array(total, sizeof *random);
    json_t *line = json_pack(
        "{s:s s:I s:I s:I s:f}", "strategy", o->strategy->name, "samples",
        (json_int_t)task->layout.size, "dim", (json_int_t)task->features->d,
        "batches", (json_int_t)task->layout.steps, "tau",
        task->value[SELECT_TAU]);

    json_object_update_new(line, measure_plan(task, ids));
    select_shuffle(task, random);
    json_object_set_new(line, "random", measure_plan(task, random));
    json_object_set_new(line, "seconds", json_real(seconds));
    json_print(line);
    free(random);
}

void
select_score_files(const struct select_options *o)
{
    const char *const second = o->operand[o->operands - 1];
    size_t n, d, n_second, d_second;
    float *u = read_rows(o->operand[0], &n, &d);
    float *v = read_rows(second, &n_second, &d_second);
    const struct select_features features = {d, u, v, NULL};
    struct select_command *command = NULL;
    struct select_task task;
    struct file_draft draft;
    int64_t *ids;
    struct err err;
    double start;

    if (n != n_second || d != d_second)
        die("'%s' has %zu rows of %zu, '%s' has %zu of %zu", o->operand[0], n,
            d, second, n_second, d_second);
    num_threads((int)o->threads);
    task = select_options_task(o, n);
    task.features = &features;
    ids = mem_array(select_layout_total(&task.layout), sizeof *ids);
    start = clock_now();
    if (o->command) {
        command = select_command_open(o, "", &err);
        or_die(!command || select_command_order(command, &task, ids, &err),
               &err);
        select_command_close(command);
    } else {
        select_strategy_order(o->strategy, &task, ids);
    }
    print_score(o, &task, ids, clock_now() - start);
    if (o->plan_out) {
        or_die(file_draft_open(&draft, o->plan_out, &err), &err);
        select_print_plan(draft.file, &task.layout, ids);
        or_die(file_draft_keep(&draft, &err), &err);
    }
    if (o->losses)
        write_losses(o->losses, &task, ids);
    mem_free(ids, u, v, (void *)task.group);
    close_stdout();
}
