#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/err.h"

/*
 * A file of events that TensorBoard opens: numbers and histograms by step.
 *
 * The file is a chain of records: the length of its event (8 bytes,
 * little-endian), a check sum of the length, the event, a check sum of the
 * event.  A sum is the CRC-32C c of the bytes, rotated and offset: (c >> 15 | c
 * << 17) + 0xa282ead8.  The event is a message of protocol buffers
 * (tensorflow's event.proto and summary.proto) with these fields:
 *
 *     Event      1 wall time, 2 step, 3 version of the file, 5 Summary
 *     Summary    1 Value
 *     Value      1 tag, 2 number, 5 histogram
 *     histogram  1 least, 2 most, 3 count, 4 sum, 5 sum of squares,
 *                6 upper ends of buckets, 7 counts in them
 *
 * TensorBoard takes a file for one of events if its name contains "tfevents".
 * Not thread-safe.
 */
struct board;

struct board_when {
    int64_t step;
    double time; /* seconds since 1970 */
};

/*
 * board_open() begins a file with the event of its version.  It cannot fail:
 * board_flush() reports errors.
 *   file   open for writing; it must stay open until board_close()
 *   name   of the file, for the message of an error
 *   time   as in board_when
 */
struct board *board_open(FILE *file, const char *name, double time);

/* board_number() adds a number under a tag, "loss"; TensorBoard stores it as a
 * float.  A slash in a tag makes groups. */
void board_number(struct board *board, const struct board_when *when,
                  const char *tag, double value);

/*
 * board_histogram() adds a histogram of 50 buckets of equal width.  Nothing is
 * added if n is 0.
 *   x   [n]   finite
 */
void board_histogram(struct board *board, const struct board_when *when,
                     const char *tag, const float *x, size_t n);

/* board_flush() flushes the file, so that other processes see all that was
 * added; -1 with a message if a write has failed since board_open(). */
int board_flush(struct board *board, struct err *err);

/* board_close() flushes and frees the board; the file stays open.  Returns what
 * board_flush() returns. */
int board_close(struct board *board, struct err *err);
