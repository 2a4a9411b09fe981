#include <stdlib.h>
#include <string.h>

#include "augment.h"
#include "num/vec.h"
#include "run/origin.h"
#include "stage/stage.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/rng.h"

enum { COLUMNS = 5, ALIGN = 64, REQUEST = 128 };

struct augment_command {
    struct stage_program *program;
    const struct augment_watcher *watcher; // only while waiting for an answer
    const struct augment_options *options;
    uint64_t seed;
    size_t rows, side, area; // of the batch; of a view, in pixels and bytes
    size_t table, end;       // offsets of the table and of free memory
    size_t size;             // of the memory
    uint8_t *memory;
    int64_t id;   // of the last image, or -1
    size_t place; // of its pixels
};

/* See stage/program.h. */
static void
on_wait(void *tool)
{
    const struct augment_command *c = tool;

    if (c->watcher)
        c->watcher->progress(c->watcher->data);
}

struct augment_command *
augment_command_open(const struct augment_options *options, uint64_t seed)
{
    struct augment_command *c = mem_array(1, sizeof *c);
    const struct stage_program_config config = {
        .name = "views",
        .line = options->command,
        .limit_s = options->limit,
        .on_wait = on_wait,
        .tool = c,
    };
    struct err changed;

    if (run_origin_note(options->stage.run, "augment --view-command",
                        options->command, &changed))
        log_message("%s", changed.msg);
    c->seed = seed;
    c->options = options;
    c->program = stage_command_open(&config);
    return c;
}

void
augment_command_close(struct augment_command *c)
{
    if (!c)
        return;
    stage_program_close(c->program);
    free(c);
}

/* Makes room for `bytes` from c->end on. */
static void
reserve_bytes(struct augment_command *c, size_t bytes)
{
    struct err err;

    if (c->end + bytes <= c->size)
        return;
    c->size = c->end + bytes + c->size / 2;
    c->memory = stage_program_memory(c->program, c->size, &err);
    or_die(!c->memory, &err);
}

/* See data/gather.h. */
static void
take_image(void *of, const struct image *image, int64_t id, uint64_t epoch,
           uint64_t view, size_t row)
{
    struct augment_command *c = of;
    const size_t bytes = image->width * image->height * 3;
    struct rng rng;
    int64_t *to;

    if (id != c->id) {
        reserve_bytes(c, bytes);
        memcpy(c->memory + c->end, image->pixel, bytes);
        c->id = id;
        c->place = c->end;
        c->end += bytes;
    }
    rng_init(&rng, c->seed, RNG_VIEW, (uint64_t)id, epoch, view);
    to = (int64_t *)(void *)(c->memory + c->table) + row * COLUMNS;
    to[0] = (int64_t)c->place;
    to[1] = (int64_t)image->height;
    to[2] = (int64_t)image->width;
    to[3] = id;
    to[4] = (int64_t)(rng_u64(&rng) >> 11);
}

void
augment_command_begin(struct augment_command *c, struct data_wanted *want)
{
    want->make = take_image;
    want->of = c;
    c->rows = want->batch.v * want->batch.b + want->batch.extra.n;
    c->side = want->size;
    c->area = want->size * want->size * 3;
    c->table = (c->rows * c->area + ALIGN - 1) / ALIGN * ALIGN;
    c->end = 0;
    reserve_bytes(c, c->table + c->rows * COLUMNS * sizeof(int64_t));
    c->end = c->table + c->rows * COLUMNS * sizeof(int64_t);
    c->id = -1;
}

/* Takes "made=K": K numbers of each row are in place of the table. */
static void
take_made(struct augment_command *c, const char *words, struct batch *batch)
{
    char name[8];
    double k;

    if (stage_program_value(&words, name, sizeof name, &k) < 1 ||
        strcmp(name, "made") != 0)
        return;
    if (!(k >= 1 && k <= BATCH_MADE_MAX))
        die("views: '%.100s' answered made=%g: want 1 to %d",
            c->options->command, k, BATCH_MADE_MAX);
    batch->n_made = (size_t)k;
    batch->made = (const float *)(const void *)(c->memory + c->table);
    if (!num_finite(batch->v * batch->b * batch->n_made, batch->made))
        die("views: '%.100s' made a number that is not finite",
            c->options->command);
}

void
augment_command_make(struct augment_command *c,
                     const struct augment_watcher *watcher, int stop,
                     uint8_t *pixel, struct batch *batch)
{
    struct stage_answer answer = {0};
    char line[REQUEST];
    struct err err;

    snprintf(line, sizeof line,
             "views rows=%zu size=%zu table=%zu bytes=%zu samples=%zu", c->rows,
             c->side, c->table, c->end, batch->b);
    c->watcher = watcher;
    or_die(stage_command_ask(c->program, line, stop, &answer, &err), &err);
    take_made(c, answer.ok, batch);
    free(answer.ok);
    c->watcher = NULL;
    memcpy(pixel, c->memory, c->rows * c->area);
}
