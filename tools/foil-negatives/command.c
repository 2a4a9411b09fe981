#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "negatives.h"
#include "run/origin.h"
#include "util/mem.h"

/*
 * Layout of the shared memory.  The program writes the weights:
 *
 *     [rows,columns] f4   weights
 *     [columns,dim]  f4   embeddings: the anchors, then the extra samples
 *     [columns]      i8   the sample of each
 *     [kept]         u1   the program's table, which the trainer stores
 */
enum { REQUEST = 512, ALIGN = 64 };

static const double tolerance = 1e-3; // of the sum of a row
static const int64_t first = 0;       // the only row of the table

struct weigher {
    struct stage_program *program;
    const char *line;
    int stop;
    size_t rows, columns, dim; // of the step
    size_t z, owner, keep;     // offsets of these arrays
    char *memory;

    size_t table_bytes;
    uint8_t *table;          // [table_bytes] before this step
    struct table_rows store; // the same, as the only row of a table
};

struct weigher *
weigher_open(const struct negatives_options *options, int stop)
{
    struct weigher *w = mem_array(1, sizeof *w);
    const struct stage_program_config config = {
        .name = "weights",
        .line = options->command,
        .limit_s = options->limit,
    };
    struct err changed;

    if (run_origin_note(options->stage.run, "negatives --weigh-command",
                        options->command, &changed))
        log_message("%s", changed.msg);
    w->line = options->command;
    w->stop = stop;
    w->table_bytes = (size_t)options->keep;
    w->table = mem_array(w->table_bytes + 1, 1);
    w->store = (struct table_rows){.name = "kept",
                                   .rows = 1,
                                   .width = w->table_bytes,
                                   .at = &first,
                                   .row = w->table};
    w->program = stage_command_open(&config);
    return w;
}

void
weigher_close(struct weigher *w)
{
    if (!w)
        return;
    stage_program_close(w->program);
    mem_free(w->table, w);
}

int
weigher_load(struct weigher *w, const struct sample_store *store,
             struct err *err)
{
    const struct sample_table *table = store->table;

    if (store->n && (strcmp(table->name, w->store.name) != 0 ||
                     table->width != w->table_bytes))
        return err_set(
            err,
            "the state of the run has a table '%s' in rows of %zu bytes, not "
            "that of --keep %zu: use the --method and the --keep of the run",
            table->name, table->width, w->table_bytes);
    memset(w->table, 0, w->table_bytes);
    if (store->n)
        memcpy(w->table, table->bytes, w->table_bytes);
    return 0;
}

/* ---------------------------------------------------------------- a request */

static size_t
align_bytes(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* Writes embeddings of one kind from row *at on; their samples are every
 * `step`-th number of `ids`. */
static void
put_rows(struct weigher *w, size_t n, const float *z, size_t period,
         const int64_t *ids, size_t step, size_t *at)
{
    int64_t *owner = (int64_t *)(void *)(w->memory + w->owner);

    if (n)
        memcpy(w->memory + w->z + *at * w->dim * sizeof *z, z,
               n * w->dim * sizeof *z);
    for (size_t i = 0; i < n; i++)
        owner[*at + i] = ids[i % period * step];
    *at += n;
}

static int
put_step(struct weigher *w, const struct wire_weights_request *request,
         struct err *err)
{
    const struct batch *p = &request->batch;
    const struct batch_extra *extra = &p->extra;
    size_t at = 0;

    w->rows = p->v * p->b;
    w->columns = w->rows + extra->n + extra->n_texts;
    w->dim = p->dim;
    w->z = align_bytes(w->rows * w->columns * sizeof(float));
    w->owner = w->z + align_bytes(w->columns * w->dim * sizeof(float));
    w->keep = w->owner + align_bytes(w->columns * sizeof(int64_t));
    w->memory = stage_program_memory(w->program, w->keep + w->table_bytes, err);
    if (!w->memory)
        return -1;
    memset(w->memory, 0, w->z);
    put_rows(w, w->rows, p->z, p->b, p->ids, 1, &at);
    put_rows(w, extra->n, extra->z, extra->n, extra->ids, 1, &at);
    put_rows(w, extra->n_texts, request->extra_text_z, extra->n_texts,
             extra->texts, 2, &at);
    return 0;
}

/* See stage/program.h: a program that died may have changed the table. */
static int
put_table(void *of)
{
    struct weigher *w = of;

    memcpy(w->memory + w->keep, w->table, w->table_bytes);
    return 1;
}

/* -------------------------------------------------------------- an answer */

static int
check_weights(const struct weigher *w, struct err *err)
{
    const float *x = (const float *)(void *)w->memory;

    for (size_t r = 0; r < w->rows; r++) {
        double sum = 0;

        for (size_t c = 0; c < w->columns; c++, x++) {
            if (!(*x >= 0))
                return err_set(err,
                               "weights: '%.100s' wrote %g in row %zu, column "
                               "%zu: weights must be at least 0",
                               w->line, (double)*x, r, c);
            sum += (double)*x;
        }
        if (!(fabs(sum - 1) <= tolerance))
            return err_set(err,
                           "weights: '%.100s' wrote a row %zu that sums to %g: "
                           "want 1",
                           w->line, r, sum);
    }
    return 0;
}

/* Parses NAME=NUMBER words after "ok". */
static int
take_values(const struct weigher *w, const char *words, struct values *values,
            struct err *err)
{
    struct value value = {0};
    const char *word = words;
    int rc;

    while ((rc = stage_program_value(&words, value.name, sizeof value.name,
                                     &value.value)) > 0) {
        if (values->n == WIRE_VALUES_MAX || !isfinite(value.value))
            break;
        values->value[values->n++] = value;
        word = words;
    }
    return !rc ? 0
               : err_set(err,
                         "weights: '%.100s' answered '%.60s': want up to %d "
                         "NAME=NUMBER",
                         w->line, word + strspn(word, " "), WIRE_VALUES_MAX);
}

int
weigher_weigh(struct weigher *w, const struct wire_weights_request *request,
              struct weights *weights, struct err *err)
{
    const struct batch *p = &request->batch;
    struct stage_answer answer = {.retry = put_table, .of = w};
    char line[REQUEST], *now;
    int rc;

    *weights = (struct weights){.accepted = 1};
    if (put_step(w, request, err))
        return -1;
    put_table(w);
    snprintf(line, REQUEST,
             "weigh rows=%zu columns=%zu dims=%zu z=%zu owner=%zu views=%zu "
             "batch=%zu beta=%.9g epoch=%" PRId64 " step=%" PRId64
             " keep=%zu bytes=%zu",
             w->rows, w->columns, w->dim, w->z, w->owner, p->v, p->b, p->beta,
             p->epoch, p->step, w->keep, w->table_bytes);
    rc = stage_command_ask(w->program, line, w->stop, &answer, err);
    if (!rc)
        rc = check_weights(w, err);
    if (!rc)
        rc = take_values(w, answer.ok, &weights->values, err);
    free(answer.ok);
    if (rc)
        return rc;
    now = w->memory + w->keep;
    w->store.n = memcmp(w->table, now, w->table_bytes) != 0;
    memcpy(w->table, now, w->table_bytes);
    weights->tables = &w->store;
    weights->n_tables = w->table_bytes > 0;
    weights->rows = w->rows;
    weights->columns = w->columns;
    weights->w = (const float *)(void *)w->memory;
    return 0;
}
