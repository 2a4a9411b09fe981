#ifndef FOIL_TAP_H
#define FOIL_TAP_H

#include <stdio.h>

#include "stage/stage.h"
#include "wire/record.h"
#include "wire/show.h"

/*
 * The verbs of foil-tap, a file each; tools/foil-tap.1.  All of them end the
 * tool where they fail.
 */
struct tap {
    /* what the command line says */
    struct stage_options options;
    const char *record, *kinds, *role, *to, *vocabulary, *tensorboard;
    int full, quiet, follow;
    long count, lease;

    struct stage stage;
    FILE *out;               /* the recording, or NULL */
    struct tap_board *board; /* for TensorBoard, or NULL */
    struct wire_words words; /* of the vocabulary, if there is one */
    long seen;               /* messages that were printed */
};

/* a and b are the operands; NULL where they are not given. */
void tap_events(struct tap *tap, const char *endpoint, const char *none);
void tap_proxy(struct tap *tap, const char *here, const char *there);
void tap_show(struct tap *tap, const char *path, const char *none);
void tap_replay(struct tap *tap, const char *path, const char *endpoint);
void tap_keys(struct tap *tap, const char *dir, const char *name);
void tap_check(struct tap *tap, const char *role, const char *endpoint);

/* What they share: opens sockets and the recording, and closes them. */
void tap_open(struct tap *tap);
void tap_close(struct tap *tap);

/*
 * Prints and records one message, if it is of a kind that is wanted; 1 when
 * there were enough.  A line is out when its message has passed.
 */
int tap_report(struct tap *tap, struct wire_msg *msg,
               const struct wire_record *from);

/*
 * A file of TensorBoard's (util/board.h) in DIR, one for each foil-tap: numbers
 * of metrics, and every ten seconds histograms of the similarities of a batch,
 * of views of one sample and of two.  tap_board_put() adds what a message has
 * for it, and hands it to the system; to close NULL does nothing.
 */
struct tap_board *tap_board_open(const char *dir);
void tap_board_put(struct tap_board *board, struct wire_msg *msg);
void tap_board_close(struct tap_board *board);

/* Says what was wrong with a message, less and less often. */
void tap_complain(const char *why);

#endif
