#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/news.h"
#include "text/vocabulary.h"
#include "util/json.h"
#include "util/opt.h"

#include "tap.h"

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

static void
open_vocabulary(struct tap *tap)
{
    struct err err;

    if (!tap->vocabulary)
        return;
    tap->words.text = text_of;
    tap->words.vocabulary = text_vocabulary_open(tap->vocabulary, &err);
    if (!tap->words.vocabulary)
        die("%s", err.msg);
}

void
tap_open(struct tap *tap)
{
    struct err err;

    open_vocabulary(tap);
    opt_together(&tap->options.keys, &tap->options.allow);
    stage_open(&tap->stage, &tap->options);
    if (tap->tensorboard)
        tap->board = tap_board_open(tap->tensorboard);
    if (!tap->record)
        return;
    tap->out = fopen(tap->record, "wb");
    if (!tap->out)
        die("cannot write '%s': %s", tap->record, strerror(errno));
    if (wire_record_start(tap->out, &err))
        die("%s", err.msg);
}

void
tap_close(struct tap *tap)
{
    tap_board_close(tap->board);
    stage_close(&tap->stage);
    text_vocabulary_free(tap->words.vocabulary);
    if (tap->out && fclose(tap->out))
        die("cannot write '%s': %s", tap->record, strerror(errno));
    close_stdout();
}

/* 1 if the kind is one of --kinds. */
static int
is_wanted(const struct tap *tap, const struct wire_msg *msg)
{
    const char *name = wire_kind_name(wire_msg_kind(msg));
    return !*tap->kinds || wire_is_word(tap->kinds, name, strlen(name));
}

int
tap_report(struct tap *tap, struct wire_msg *msg,
           const struct wire_record *from)
{
    json_t *line;
    struct err err;
    char *text;

    if (!is_wanted(tap, msg))
        return 0;
    if (tap->out && wire_record_put(tap->out, from, msg, &err))
        die("%s: %s", tap->record, err.msg);
    if (tap->out && !tap->full && fflush(tap->out))
        die("cannot write '%s': %s", tap->record, strerror(errno));
    if (tap->board)
        tap_board_put(tap->board, msg);
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

void
tap_complain(const char *why)
{
    static struct tally tally;
    struct err err;

    err_set(&err, "%.400s", why);
    if (tally_add(&tally, &err))
        log_message("%s", err.msg);
}
