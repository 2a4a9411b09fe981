#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/board.h"
#include "util/mem.h"

enum { BUCKETS = 50 };
enum { VARINT = 0, EIGHT = 1, BYTES = 2, FOUR = 5 }; /* kinds of fields */

struct board {
    FILE *file;
    char *name;
    int failed; /* errno of the first failed write; 0: none */
};

static void
put_bytes(struct data_bytes *to, const void *bytes, size_t n)
{
    mem_grow(&to->data, &to->room, to->len + n, 1);
    memcpy(to->data + to->len, bytes, n);
    to->len += n;
}

static void
put_varint(struct data_bytes *to, uint64_t x)
{
    for (; x > 127; x >>= 7)
        put_bytes(to, &(unsigned char){(unsigned char)(x | 128)}, 1);
    put_bytes(to, &(unsigned char){(unsigned char)x}, 1);
}

static void
put_key(struct data_bytes *to, unsigned field, unsigned kind)
{
    put_varint(to, field << 3 | kind);
}

/* Appends the n low bytes of a number, little-endian. */
static void
put_little_endian(struct data_bytes *to, uint64_t bits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_bytes(to, &(unsigned char){(unsigned char)(bits >> 8 * i)}, 1);
}

static void
put_double(struct data_bytes *to, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    put_little_endian(to, bits, 8);
}

static void
put_real(struct data_bytes *to, unsigned field, double x)
{
    put_key(to, field, EIGHT);
    put_double(to, x);
}

static void
put_text(struct data_bytes *to, unsigned field, const char *text)
{
    put_key(to, field, BYTES);
    put_varint(to, strlen(text));
    put_bytes(to, text, strlen(text));
}

/* Appends a field that is a message, and frees that message. */
static void
put_message(struct data_bytes *to, unsigned field, struct data_bytes *part)
{
    put_key(to, field, BYTES);
    put_varint(to, part->len);
    put_bytes(to, part->data, part->len);
    free(part->data);
}

static uint32_t
sum_bytes(const unsigned char *byte, size_t n)
{
    uint32_t c = ~UINT32_C(0);

    for (size_t i = 0; i < n; i++) {
        c ^= byte[i];
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    c = ~c;
    return (c >> 15 | c << 17) + UINT32_C(0xa282ead8);
}

/* Writes a record of an event, and frees the event. */
static void
write_event(struct board *board, struct data_bytes *event)
{
    struct data_bytes record = {0};

    put_little_endian(&record, event->len, 8);
    put_little_endian(&record, sum_bytes(record.data, 8), 4);
    put_bytes(&record, event->data, event->len);
    put_little_endian(&record, sum_bytes(event->data, event->len), 4);
    errno = 0;
    if (fwrite(record.data, 1, record.len, board->file) != record.len &&
        !board->failed)
        board->failed = errno ? errno : EIO;
    mem_free(record.data, event->data);
}

/* Writes an event of one value, and frees the value. */
static void
write_value(struct board *board, const struct board_when *when,
            struct data_bytes *value)
{
    struct data_bytes event = {0}, summary = {0};

    put_real(&event, 1, when->time);
    put_key(&event, 2, VARINT);
    put_varint(&event, (uint64_t)when->step);
    put_message(&summary, 1, value);
    put_message(&event, 5, &summary);
    write_event(board, &event);
}

struct board *
board_open(FILE *file, const char *name, double time)
{
    struct board *board = mem_array(1, sizeof *board);
    struct data_bytes event = {0};

    board->file = file;
    board->name = mem_text(name);
    put_real(&event, 1, time);
    put_text(&event, 3, "brain.Event:2");
    write_event(board, &event);
    return board;
}

void
board_number(struct board *board, const struct board_when *when,
             const char *tag, double value)
{
    const float x = (float)value;
    struct data_bytes to = {0};
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    put_text(&to, 1, tag);
    put_key(&to, 2, FOUR);
    put_little_endian(&to, bits, 4);
    write_value(board, when, &to);
}

static void
put_buckets(struct data_bytes *to, unsigned field, const double x[BUCKETS])
{
    struct data_bytes packed = {0};

    for (int i = 0; i < BUCKETS; i++)
        put_double(&packed, x[i]);
    put_message(to, field, &packed);
}

void
board_histogram(struct board *board, const struct board_when *when,
                const char *tag, const float *x, size_t n)
{
    double least = INFINITY, most = -INFINITY, sum = 0, squares = 0;
    double end[BUCKETS], count[BUCKETS] = {0};
    struct data_bytes to = {0}, histogram = {0};

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, x[i]);
        most = fmax(most, x[i]);
        sum += x[i];
        squares += (double)x[i] * x[i];
    }
    for (size_t i = 0; i < n; i++) {
        const double at = most > least ? (x[i] - least) / (most - least) : 0;

        count[at < 1 ? (size_t)(at * BUCKETS) : BUCKETS - 1]++;
    }
    for (int i = 0; i < BUCKETS; i++)
        end[i] = least + (most - least) * (i + 1) / BUCKETS;
    if (!n)
        return;
    put_real(&histogram, 1, least);
    put_real(&histogram, 2, most);
    put_real(&histogram, 3, (double)n);
    put_real(&histogram, 4, sum);
    put_real(&histogram, 5, squares);
    put_buckets(&histogram, 6, end);
    put_buckets(&histogram, 7, count);
    put_text(&to, 1, tag);
    put_message(&to, 5, &histogram);
    write_value(board, when, &to);
}

int
board_flush(struct board *board, struct err *err)
{
    errno = 0;
    if (fflush(board->file) && !board->failed)
        board->failed = errno ? errno : EIO;
    if (board->failed)
        return err_set(err, "cannot write '%s': %s", board->name,
                       strerror(board->failed));
    return 0;
}

int
board_close(struct board *board, struct err *err)
{
    const int rc = board_flush(board, err);

    mem_free(board->name, board);
    return rc;
}
