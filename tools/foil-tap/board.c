#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "num/vec.h"
#include "util/board.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/events.h"
#include "wire/features.h"

#include "tap.h"

static const double interval_s = 10;              /* between two histograms */
static const int64_t any_size = (int64_t)1 << 48; /* of a data set */

struct tap_board {
    FILE *file;
    struct board *board;
    struct board_when when; /* of the newest line of metrics */
    double drawn;           /* time of the last histogram */
};

struct tap_board *
tap_board_open(const char *dir)
{
    struct tap_board *to = mem_array(1, sizeof *to);
    const double now = (double)clock_wall() / 1e9;
    char *path = mem_format("%s/events.out.tfevents.%.0f.foil-tap.%d", dir, now,
                            (int)getpid());
    struct err err;

    if (file_mkdir(dir, 0777, &err))
        die("%s", err.msg);
    to->file = fopen(path, "wbx");
    if (!to->file)
        die("cannot write '%s': %s", path, strerror(errno));
    to->board = board_open(to->file, path, now);
    to->drawn = -interval_s;
    free(path);
    return to;
}

void
tap_board_close(struct tap_board *to)
{
    struct err err;

    if (!to)
        return;
    if (board_close(to->board, &err))
        die("%s", err.msg);
    fclose(to->file);
    free(to);
}

static void
add_metrics(struct tap_board *to, const struct wire_msg *msg)
{
    struct wire_metrics *m = mem_array(1, sizeof *m);
    struct err err;
    double total;

    if (wire_metrics_get(m, msg, &err))
        die("%s", err.msg);
    total = value_find(m->values, m->n, "total");
    to->when.step = isnan(total) ? to->when.step : (int64_t)total;
    to->when.time = (double)clock_wall() / 1e9;
    for (size_t i = 0; i < m->n; i++) {
        char *tag = mem_format("%s/%s", m->stage, m->values[i].name);

        if (strcmp(m->values[i].name, "total"))
            board_number(to->board, &to->when, tag, m->values[i].value);
        free(tag);
    }
    free(m);
}

/* Similarities of view 0 of each sample to view 1 of itself, and of others. */
static void
add_similarities(struct tap_board *to, const struct batch *f)
{
    float *positive = mem_array(f->b, sizeof *positive);
    float *negative = mem_array(f->b * f->b, sizeof *negative);
    size_t n = 0;

    for (size_t i = 0; i < f->b; i++)
        for (size_t j = 0; j < f->b; j++) {
            float *at = i == j ? &positive[i] : &negative[n++];

            *at = (float)num_dot(f->dim, f->z + i * f->dim,
                                 f->z + (f->b + j) * f->dim);
        }
    board_histogram(to->board, &to->when, "similarity/positive", positive,
                    f->b);
    board_histogram(to->board, &to->when, "similarity/negative", negative, n);
    free(positive);
    free(negative);
}

static void
add_features(struct tap_board *to, struct wire_msg *msg)
{
    struct wire_features f;
    struct err err;

    if (clock_now() - to->drawn < interval_s)
        return;
    if (wire_features_get(&f, msg, any_size, &err))
        die("%s", err.msg);
    if (f.batch.z && f.batch.v > 1 && !f.id) {
        to->drawn = clock_now();
        add_similarities(to, &f.batch);
    }
    wire_features_release(&f);
}

void
tap_board_put(struct tap_board *to, struct wire_msg *msg)
{
    struct err err;

    if (wire_msg_kind(msg) == WIRE_METRICS)
        add_metrics(to, msg);
    else if (wire_msg_kind(msg) == WIRE_FEATURES)
        add_features(to, msg);
    if (board_flush(to->board, &err))
        die("%s", err.msg);
}
