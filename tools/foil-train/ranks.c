#include <stdlib.h>
#include <string.h>

#include "num/threads.h"
#include "ranks.h"
#include "train/config.h"
#include "train/shards.h"
#include "util/isa.h"
#include "util/mem.h"

/* ------------------------------------------------- agreement of all ranks */

/* The length of a line, at most 60. */
static int
line_length(const char *text)
{
    const size_t n = strcspn(text, "\n");

    return n < 60 ? (int)n : 60;
}

static int
compare_text(const char *ours, const char *theirs, size_t rank, struct err *err)
{
    size_t at = 0, line = 0;

    if (!strcmp(ours, theirs))
        return 0;
    for (; ours[at] && ours[at] == theirs[at]; at++)
        if (ours[at] == '\n')
            line = at + 1;
    return err_set(err,
                   "rank %zu has '%.*s', rank 0 '%.*s': all ranks must be "
                   "alike, for the same bits",
                   rank, line_length(theirs + line), theirs + line,
                   line_length(ours + line), ours + line);
}

int
train_ranks_agree(const struct ranks *ranks, const char *text, struct err *err)
{
    const size_t size = ranks->size, own = strlen(text) + 1;
    size_t *length = mem_array(size, sizeof *length);
    size_t *at = mem_array(size + 1, sizeof *at);
    char *all = NULL;
    int rc = 0;

    // the texts of all ranks, one after the other, on rank 0; else NULL
    for (size_t r = 0; r <= size; r++)
        at[r] = r * sizeof *length;
    ranks->gather(ranks->self, &own, at, length);
    length[0] = ranks->rank ? 0 : own;
    ranks->bcast(ranks->self, length, size * sizeof *length);
    at[0] = 0;
    for (size_t r = 0; r < size; r++)
        at[r + 1] = at[r] + length[r];
    if (!ranks->rank) {
        all = mem_array(at[size], 1);
        memcpy(all, text, own);
    }
    ranks->gather(ranks->self, text, at, all);
    for (size_t r = 1; all && r < size && !rc; r++)
        rc = compare_text(all, all + at[r], r, err);
    mem_free(all, at, length);
    return rc;
}

char *
train_ranks_start(const struct train_options *o, char **argv)
{
    char *processor = train_overridden("processor") ? NULL : util_processor();
    char *text = mem_format("foil " FOIL_VERSION "\nprocessor %s\nthreads %ld",
                            processor ? processor : "any", o->threads);

    for (size_t i = 1; argv[i]; i++) {
        const int value = i > 1 && argv[i - 1][0] == '-' && argv[i][0] != '-';
        char *more = mem_format("%s%c%s", text, value ? ' ' : '\n', argv[i]);

        free(text);
        text = more;
    }
    free(processor);
    return text;
}

char *
train_ranks_table(const struct train_encoder *encoder,
                  const struct train_encoder *text)
{
    char *one = train_encoder_table(encoder);
    char *two = text->ops ? train_encoder_table(text) : mem_text("");
    char *both = mem_format("%s%s", one, two);

    mem_free(one, two);
    return both;
}

/* ----------------------------------------------------------------- rank 0 */

void
train_ranks_lead(const struct ranks *ranks, const struct train_shape *shape)
{
    struct train_shape copy = *shape;
    json_t *options = train_options_put();
    char *text = json_text(options, 0);
    size_t length = strlen(text);

    train_shards_order(ranks, TRAIN_ORDER_OPEN);
    ranks->bcast(ranks->self, &copy, sizeof copy);
    ranks->bcast(ranks->self, &length, sizeof length);
    ranks->bcast(ranks->self, text, length);
    free(text);
    json_decref(options);
}

/* ------------------------------------------------------------ other ranks */

/* Takes the options of rank 0, the first time. */
static int
take_options(const struct ranks *ranks, int taken, struct err *err)
{
    json_t *options;
    size_t length;
    char *text;
    int rc;

    ranks->bcast(ranks->self, &length, sizeof length);
    text = mem_array(length + 1, 1);
    ranks->bcast(ranks->self, text, length);
    options = json_parse(text, length, "the options of rank 0", err);
    free(text);
    rc = !options || (!taken && train_options_take(options, err)) ? -1 : 0;
    json_decref(options);
    return rc;
}

static int
open_encoders(const struct ranks *ranks, const struct train_options *o,
              const struct train_shape *shape, struct train_encoder *encoder,
              struct err *err)
{
    struct train_encoder_spec spec;
    char *table;

    num_threads((int)o->threads);
    for (int texts = 0; texts < (o->text ? 2 : 1); texts++)
        if (train_encoder_spec(o, shape, texts, &spec, err) ||
            train_shards_open(encoder + texts, &spec, ranks, texts, err))
            return -1;
    table = train_ranks_table(encoder, encoder + 1);
    train_ranks_agree(ranks, table, err);
    free(table);
    return 0;
}

int
train_ranks_follow(const struct ranks *ranks, struct train_options *o,
                   struct err *err)
{
    struct train_encoder encoder[2] = {{.ops = NULL}};
    int rc = 0, taken = 0;

    while (!rc && train_shards_follow(encoder, ranks) == TRAIN_ORDER_OPEN) {
        struct train_shape shape;

        train_encoder_close(encoder); // if images get another size
        train_encoder_close(encoder + 1);
        ranks->bcast(ranks->self, &shape, sizeof shape);
        rc = take_options(ranks, taken, err) ||
                     open_encoders(ranks, o, &shape, encoder, err)
                 ? -1
                 : 0;
        taken = 1;
    }
    train_encoder_close(encoder);
    train_encoder_close(encoder + 1);
    return rc;
}
