#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/replay.h"
#include "num/vec.h"
#include "text/vocabulary.h"
#include "util/board.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "wire/events.h"
#include "wire/features.h"
#include "wire/feed.h"
#include "wire/proxy.h"

#include "tap.h"

/* ---- TensorBoard -------------------------------------------------------- */

static const double interval_s = 10;              /* between two histograms */
static const int64_t any_size = (int64_t)1 << 48; /* of a data set */

struct tap_board {
    FILE *file;
    struct board *board;
    struct board_when when; /* of the newest line of metrics */
    double drawn;           /* time of the last histogram */
};

/* A file in DIR, one for each foil-tap: metrics, and every ten seconds
 * histograms of similarities in a batch, between views of the same sample and
 * of different samples. */
static struct tap_board *
open_board(const char *dir)
{
    struct tap_board *to = mem_array(1, sizeof *to);
    const double now = (double)clock_wall() / 1e9;
    const char *path = mem_temp("%s/events.out.tfevents.%.0f.foil-tap.%d", dir,
                                now, (int)getpid());
    struct err err;

    or_die(file_mkdir(dir, 0777, &err), &err);
    to->file = fopen(path, "wbx");
    if (!to->file)
        die("cannot write '%s': %s", path, strerror(errno));
    to->board = board_open(to->file, path, now);
    to->drawn = -interval_s;
    return to;
}

static void
close_board(struct tap_board *to)
{
    struct err err;

    if (!to)
        return;
    or_die(board_close(to->board, &err), &err);
    fclose(to->file);
    free(to);
}

static void
add_metrics(struct tap_board *to, const struct wire_msg *msg)
{
    struct wire_metrics *m = mem_array(1, sizeof *m);
    struct err err;
    double total;

    or_die(wire_metrics_get(m, msg, &err), &err);
    total = value_find(m->values, m->n, "total");
    to->when.step = isnan(total) ? to->when.step : (int64_t)total;
    to->when.time = (double)clock_wall() / 1e9;
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->values[i].name, "total"))
            board_number(to->board, &to->when,
                         mem_temp("%s/%s", m->stage, m->values[i].name),
                         m->values[i].value);
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
    mem_free(positive, negative);
}

static void
add_features(struct tap_board *to, struct wire_msg *msg)
{
    struct wire_features f;
    struct err err;

    if (clock_now() - to->drawn < interval_s)
        return;
    or_die(wire_features_get(&f, msg, any_size, &err), &err);
    if (f.batch.z && f.batch.v > 1 && !f.id) {
        to->drawn = clock_now();
        add_similarities(to, &f.batch);
    }
    wire_features_release(&f);
}

static void
put_on_board(struct tap_board *to, struct wire_msg *msg)
{
    struct err err;

    if (wire_msg_kind(msg) == WIRE_METRICS)
        add_metrics(to, msg);
    else if (wire_msg_kind(msg) == WIRE_FEATURES)
        add_features(to, msg);
    or_die(board_flush(to->board, &err), &err);
}

/* ---- all verbs ---------------------------------------------------------- */

/* A row of tokens as text, for wire_show(). */
static char *
text_of(void *vocabulary, size_t n, const int32_t *token)
{
    struct data_bytes text = {0};
    size_t known = 0;

    while (known < n && token[known] >= 0 &&
           (size_t)token[known] < text_vocabulary_size(vocabulary))
        known++;
    if (known < n)
        return NULL;
    text_vocabulary_decode(vocabulary, n, token, &text);
    return (char *)text.data;
}

void
tap_open(struct tap *tap)
{
    struct err err;

    if (tap->vocabulary) {
        tap->words.text = text_of;
        tap->words.vocabulary = text_vocabulary_open(tap->vocabulary, &err);
        or_die(!tap->words.vocabulary, &err);
    }
    opt_together(&tap->options.keys, &tap->options.allow);
    stage_open(&tap->stage, &tap->options);
    if (tap->tensorboard)
        tap->board = open_board(tap->tensorboard);
    if (!tap->record)
        return;
    tap->out = fopen(tap->record, "wb");
    if (!tap->out)
        die("cannot write '%s': %s", tap->record, strerror(errno));
    or_die(wire_record_start(tap->out, &err), &err);
}

void
tap_close(struct tap *tap)
{
    close_board(tap->board);
    stage_close(&tap->stage);
    text_vocabulary_free(tap->words.vocabulary);
    if (tap->out && fclose(tap->out))
        die("cannot write '%s': %s", tap->record, strerror(errno));
    close_stdout();
}

/* Prints and records a message, if it is of a wanted kind; 1 after --count
 * messages.  Flushes the line before it returns. */
static int
report_message(struct tap *tap, struct wire_msg *msg,
               const struct wire_record *from)
{
    const char *kind = wire_kind_name(wire_msg_kind(msg));
    json_t *line;
    struct err err;
    char *text;

    if (*tap->kinds && !wire_is_word(tap->kinds, kind, strlen(kind)))
        return 0;
    if (tap->out && wire_record_put(tap->out, from, msg, &err))
        die("%s: %s", tap->record, err.msg);
    if (tap->out && !tap->full && fflush(tap->out))
        die("cannot write '%s': %s", tap->record, strerror(errno));
    if (tap->board)
        put_on_board(tap->board, msg);
    if (!tap->quiet) {
        line = wire_show(msg, tap->full, tap->words.text ? &tap->words : NULL);
        json_object_set_new(line, "time", json_integer((json_int_t)from->time));
        json_object_set_new(line, "from", json_integer(from->from));
        text = json_line(line);
        if (fputs(text, stdout) < 0 || fflush(stdout))
            die("cannot write to standard output: %s", strerror(errno));
        free(text);
        json_decref(line);
    }
    return tap->count && ++tap->seen >= tap->count;
}

/* ---- each verb ---------------------------------------------------------- */

/* Prints what is wrong with a message the 1st, 2nd, 4th, 8th ... time. */
static void
print_complaint(const struct err *why)
{
    static struct tally tally;
    struct err line;

    err_set(&line, "%.400s", why->msg); // room for the count
    if (tally_add(&tally, &line))
        log_message("%s", line.msg);
}

static int
is_stop(const struct wire_msg *msg)
{
    struct wire_event event;
    struct err ignored;

    return wire_msg_kind(msg) == WIRE_EVENT &&
           !wire_event_get(&event, msg, &ignored) &&
           !strcmp(event.what, "stop");
}

/* Reports all messages that have arrived: 1 after the last of the run. */
static int
report_all(struct tap *tap, struct wire_listener *listener, int *silent)
{
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc, over = 0;

    while (!over && (rc = wire_listener_next(listener, &msg, &missed, &err))) {
        const struct wire_record from = {clock_wall(), 0};

        *silent = 0;
        if (rc < 0) {
            print_complaint(&err);
            continue;
        }
        if (missed)
            log_message("messages lost on the way here: %ju",
                        (uintmax_t)missed);
        over =
            report_message(tap, msg, &from) || (!tap->follow && is_stop(msg));
        wire_msg_free(msg);
    }
    return over;
}

void
tap_events(struct tap *tap, char **operand)
{
    // always subscribe to events, at least for the last one
    char *kinds =
        *tap->kinds ? mem_format("%s event", tap->kinds) : mem_text("");
    const struct wire_limits limits = {.queue = 1000};
    const double since = clock_now();
    struct wire_listener *listener;
    struct err err;
    int silent = 1; // until a message has arrived, or the wait was reported

    if (!*operand && !tap->options.run)
        opt_misuse("where are the events? -r DIR or an endpoint");
    tap_open(tap);
    listener = wire_listener_open(
        tap->stage.wire, stage_endpoint(&tap->stage, *operand, "events"), kinds,
        &limits, &err);
    or_die(!listener, &err);
    while (stage_wait(&tap->stage, 1) && !report_all(tap, listener, &silent))
        if (silent && clock_now() - since >= STAGE_REPORT_EVERY_S) {
            log_message(
                "no message from '%s' in %.0f seconds: does a trainer run "
                "there?",
                tap->stage.endpoint[0], STAGE_REPORT_EVERY_S);
            silent = 0;
        }
    free(kinds);
    wire_listener_close(listener);
    tap_close(tap);
}

void
tap_proxy(struct tap *tap, char **operand)
{
    const struct wire_limits limits = {.queue = 64};
    struct wire_proxy *proxy;
    struct wire_msg *msg;
    struct err err;
    int over = 0;

    tap_open(tap);
    proxy = wire_proxy_open(tap->stage.wire, operand[0], operand[1], tap->to,
                            &limits, &err);
    or_die(!proxy, &err);
    while (!over && stage_wait(&tap->stage, 1)) {
        struct wire_record from = {0};
        int rc;

        while (wire_refused(tap->stage.wire, &err))
            log_message("%s", err.msg);
        while (!over && (rc = wire_proxy_next(proxy, &from.from, &msg, &err))) {
            if (rc < 0) {
                print_complaint(&err);
                continue;
            }
            from.time = clock_wall();
            over = report_message(tap, msg, &from);
            wire_msg_free(msg);
        }
    }
    wire_proxy_close(proxy);
    tap_close(tap);
}

void
tap_show(struct tap *tap, char **operand)
{
    struct wire_record from;
    struct wire_msg *msg;
    struct err err;
    FILE *file;
    int rc, over = 0;

    tap_open(tap);
    file = wire_record_open(*operand, &err);
    or_die(!file, &err);
    while (!over && (rc = wire_record_next(file, &from, &msg, &err))) {
        if (rc < 0)
            die("'%s': %s", *operand, err.msg);
        over = stop_requested() || report_message(tap, msg, &from);
        wire_msg_free(msg);
    }
    fclose(file);
    tap_close(tap);
}

void
tap_replay(struct tap *tap, char **operand)
{
    struct flow_replay *replay;
    struct err err;
    const char *where;
    int rc;

    tap_open(tap);
    replay = flow_replay_open(operand[0], &err);
    or_die(!replay, &err);
    where = stage_endpoint(&tap->stage, operand[1], flow_replay_edge(replay));
    if (!where)
        opt_misuse("replay needs -r DIR or an endpoint");
    rc = flow_replay_run(replay, tap->stage.wire, tap->stage.stop, where,
                         tap->to, &err);
    flow_replay_close(replay);
    or_die(rc, &err);
    tap_close(tap);
}
