#ifndef SAMPLE_BANK_H
#define SAMPLE_BANK_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * The latest features of each sample, as they were a fixed time ago: one row of
 * it, or one of each of its fixed views.  Row id views + view is that of a
 * sample's view; where there is one row a sample, that is its id.
 *
 * Steps are numbered 0, 1, 2 .. through the whole run.  The features that step
 * t trains on are pushed as t's; they wait in a queue until the table is
 * brought up to t.  Whoever draws for step t + horizon from the table as of
 * step t gets the same draws however late the messages were, and after a
 * restart.
 *
 *   rows [size views,dim]   unit length; zero where there is none
 *   when [size views]       the step that wrote the row, -1: none did
 *
 * and of the n updates in the queue, oldest first,
 *
 *   queue_when [n]   queue_ids [n]   queue_rows [n,dim]
 *
 * In `state` and `state.put` messages and in checkpoints these are the tensors
 * "bank", "bank_when", "bank_queue_when", "bank_queue_ids", "bank_queue".
 */
#define SAMPLE_BANK "bank"
#define SAMPLE_BANK_WHEN "bank_when"
#define SAMPLE_BANK_QUEUE_WHEN "bank_queue_when"
#define SAMPLE_BANK_QUEUE_IDS "bank_queue_ids"
#define SAMPLE_BANK_QUEUE "bank_queue"

struct sample_bank {
    size_t size, views, dim;
    float *rows;
    int64_t *when;
    size_t n, room; /* queue: updates, and those there is room for */
    int64_t *queue_when, *queue_ids;
    float *queue_rows;
    size_t known; /* rows that were written */
};

/*
 * sample_bank_init() begins without a row.
 *   size   samples;  views >= 1, rows of each
 * 4 size views (dim + 2) bytes.
 */
void sample_bank_init(struct sample_bank *bank, size_t size, size_t views,
                      size_t dim);
void sample_bank_release(struct sample_bank *bank);

/*
 * sample_bank_push() puts rows that step `when` made at the end of the queue.
 *   when  not before the last one pushed
 *   ids [n] row numbers, each < size views;  rows [n,dim]
 */
void sample_bank_push(struct sample_bank *bank, int64_t when, size_t n,
                      const int64_t *ids, const float *rows);

/* How old the table was where it was renewed. */
struct sample_staleness {
    size_t renewed; /* rows that had one before */
    double mean;    /* of |old - new|^2 / |new|^2 over these; 0 without */
    double age;     /* mean steps between their writing */
};

/*
 * sample_bank_advance() writes what the steps up to and with `to` pushed into
 * the table, in their order, and takes it off the queue.
 */
struct sample_staleness sample_bank_advance(struct sample_bank *bank,
                                            int64_t to);

/*
 * sample_bank_load() takes table and queue from outside, laid out as above.
 *   rows [size views,dim], when [size views]; the queue's [n], [n], [n,dim]
 * Refused, and nothing changed, where a row does not exist, the queue is not
 * in the order of its steps, a step is below -1 (in the queue: 0), or a number
 * is not finite.
 */
int sample_bank_load(struct sample_bank *bank, const float *rows,
                     const int64_t *when, size_t n, const int64_t *queue_when,
                     const int64_t *queue_ids, const float *queue_rows,
                     struct err *err);

#endif
