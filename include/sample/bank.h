#ifndef SAMPLE_BANK_H
#define SAMPLE_BANK_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* The view that a row was made of, where views are drawn anew: the one in slot
 * `view` of the sample's batch in that epoch, which can be made again.  {0, 0}
 * where it is not known, or a number below would be too large. */
struct sample_shown {
    int32_t view;  /* < SAMPLE_SHOWN_VIEWS */
    int32_t epoch; /* < SAMPLE_SHOWN_EPOCHS */
};
enum { SAMPLE_SHOWN_VIEWS = 256, SAMPLE_SHOWN_EPOCHS = 1 << 23 };

/* An update that waits: the step that made it, its row and its slot. */
struct sample_queued {
    int64_t when, row, slot;
    struct sample_shown shown;
};

/*
 * The latest features of each sample, as they were a fixed number of steps ago:
 * one row of each, or one for each of its views.  Row id * views + view is that
 * of a sample's view.
 *
 * Steps are numbered 0, 1, 2 .. through the whole run.  The features that step
 * t trains on are pushed as t's; they wait in a queue until the table is
 * brought up to t.  Draws for step t + horizon from the table as of step t are
 * the same however late the messages were, and after a restart.
 *
 *   rows [size views,dim]   unit length; zero where there is none
 *   when [size views]       the step that wrote the row, -1: none did
 *
 * Each update, in the queue or in the table, has a slot: the lowest that was
 * free when it was pushed.  It is free again when a later update of its row is
 * in the table.  So the updates by their slots are the whole bank, and each is
 * written to disk once.
 */
struct sample_bank {
    size_t size, views, dim;
    float *rows;
    int64_t *when, *slot;       /* slot: of each row, where there is one */
    struct sample_shown *shown; /* of each row */
    size_t n, room; /* queue: updates, and those there is room for */
    struct sample_queued *queue;      /* [n] oldest first */
    float *queue_z;                   /* [n,dim] */
    size_t known;                     /* rows that were written */
    size_t slots, slots_room, lowest; /* none below `lowest` is free */
    uint8_t *taken;                   /* [slots] */
};

/*
 * sample_bank_init() begins without a row.
 *   size   samples;  views >= 1, rows of each
 * Memory: 4 size views (dim + 6) bytes, and the queue.
 */
void sample_bank_init(struct sample_bank *bank, size_t size, size_t views,
                      size_t dim);
void sample_bank_release(struct sample_bank *bank);

/* sample_bank_copy() begins as a copy of another bank. */
void sample_bank_copy(struct sample_bank *bank, const struct sample_bank *from);

/*
 * sample_bank_push() puts an update that step `when` made at the end of the
 * queue, in the lowest slot that is free.
 *   when   not before the last one pushed
 *   row    < size views;  z [dim]
 *   shown  which view that was, where the bank has one row a sample
 */
void sample_bank_push(struct sample_bank *bank, int64_t when, int64_t row,
                      struct sample_shown shown, const float *z);

/* sample_bank_restore() is the same for an update that has its slot already, in
 * which no other update is. */
void sample_bank_restore(struct sample_bank *bank, struct sample_queued update,
                         const float *z);

/* sample_bank_reserve() makes the slots at least so many, new ones free, and
 * makes room for so many updates in the queue. */
void sample_bank_reserve(struct sample_bank *bank, size_t slots,
                         size_t updates);

/* How old the rows were that were written anew. */
struct sample_staleness {
    size_t renewed; /* rows that had features before */
    double mean;    /* of |old - new|^2 / |new|^2 over these rows; or 0 */
    double age;     /* mean steps between old and new; or 0 */
};

/*
 * sample_bank_advance() writes the updates that the steps up to and with `to`
 * pushed into the table, in their order, and takes them off the queue.
 */
struct sample_staleness sample_bank_advance(struct sample_bank *bank,
                                            int64_t to);

#endif
