#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* The view that a row was computed from, where each epoch makes new views: the
 * view that the sample had in slot `view` of its batch in that epoch.  It can
 * be made again.  {0, 0} if it is unknown or exceeds a limit. */
struct sample_row_view {
    int32_t view;  /* < SAMPLE_ROW_VIEWS */
    int32_t epoch; /* < SAMPLE_ROW_EPOCHS */
};
enum { SAMPLE_ROW_VIEWS = 256, SAMPLE_ROW_EPOCHS = 1 << 23 };

/* An update in the queue: the step that made it, its row and its slot. */
struct sample_update {
    int64_t when, row, slot;
    struct sample_row_view view;
};

/*
 * The latest features of each sample, as of a fixed number of steps ago: one
 * row for each sample, or one for each of its views.  The row of a sample's
 * view is id * views + view.
 *
 * Steps are numbered 0, 1, 2 .. through the whole run.  Step t pushes the
 * features that it trains on; they wait in a queue until the table advances to
 * t.  Step t + horizon draws from the table as of step t, so its draws do not
 * depend on how late messages arrive, nor on restarts.
 *
 *   rows [size views,dim]   unit length; zeros if no step wrote the row
 *   when [size views]       the step that wrote the row, or -1
 *
 * Each update, in the queue or in the table, has a slot: the lowest one that
 * was free at its push.  The slot becomes free when a later update of the same
 * row reaches the table.  So the updates by slot are the whole bank, and each
 * is written to disk once.
 */
struct sample_bank {
    size_t size, views, dim;
    float *rows;
    int64_t *when, *slot;         /* slot: of each row that was written */
    struct sample_row_view *view; /* of each row */
    size_t n, room;               /* queue: length and capacity, in updates */
    struct sample_update *queue;  /* [n] oldest first */
    float *queue_z;               /* [n,dim] */
    size_t known;                 /* rows that were written */
    size_t slots, slots_room, lowest; /* none below `lowest` is free */
    uint8_t *taken;                   /* [slots] */
};

/*
 * sample_bank_init() makes a bank in which no row is written.
 *   size   number of samples;  views >= 1, rows of each sample
 * Memory: 4 size views (dim + 6) bytes, and the queue.
 */
void sample_bank_init(struct sample_bank *bank, size_t size, size_t views,
                      size_t dim);
void sample_bank_release(struct sample_bank *bank);

/* sample_bank_copy() initialises a bank as a copy of another. */
void sample_bank_copy(struct sample_bank *bank, const struct sample_bank *from);

/*
 * sample_bank_push() appends an update by step `when` to the queue and assigns
 * it the lowest free slot.
 *   when  not before that of the last push
 *   row   < size views;  z [dim]
 *   view  the view of z, if the bank has one row for each sample
 */
void sample_bank_push(struct sample_bank *bank, int64_t when, int64_t row,
                      struct sample_row_view view, const float *z);

/* sample_bank_restore() appends an update that already has its slot, which must
 * be free. */
void sample_bank_restore(struct sample_bank *bank, struct sample_update update,
                         const float *z);

/* sample_bank_reserve() grows the bank to at least `slots` slots, new ones
 * free, and the queue's capacity to `updates`. */
void sample_bank_reserve(struct sample_bank *bank, size_t slots,
                         size_t updates);

/* How old the rows were that an advance overwrote. */
struct sample_staleness {
    size_t renewed; /* rows that had features before */
    double mean;    /* of |old - new|^2 / |new|^2 over these rows; or 0 */
    double age;     /* mean steps between old and new; or 0 */
};

/* sample_bank_advance() moves the updates of steps up to and including `to`
 * from the queue into the table, in order. */
struct sample_staleness sample_bank_advance(struct sample_bank *bank,
                                            int64_t to);
