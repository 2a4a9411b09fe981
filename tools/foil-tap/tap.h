#ifndef FOIL_TAP_H
#define FOIL_TAP_H

#include <stdio.h>

#include "stage/stage.h"
#include "wire/record.h"
#include "wire/show.h"

/*
 * The verbs of foil-tap; see tools/foil-tap.1.  All end the tool
 * on error.
 */
struct tap {
    /* the command line */
    struct stage_options options;
    const char *record, *kinds, *role, *to, *vocabulary, *tensorboard;
    int full, quiet, follow;
    long count, lease;

    struct stage stage;
    FILE *out;                    /* the recording, or NULL */
    struct tap_board *board;      /* for TensorBoard, or NULL */
    struct wire_token_text words; /* of the vocabulary, if any */
    long seen;                    /* messages printed */
};

/* `operand` has those after the verb, and ends with NULL. */
void tap_events(struct tap *tap, char **operand);
void tap_proxy(struct tap *tap, char **operand);
void tap_show(struct tap *tap, char **operand);
void tap_replay(struct tap *tap, char **operand);

/* tap_open() opens sockets and the recording, tap_close() closes them. */
void tap_open(struct tap *tap);
void tap_close(struct tap *tap);

#endif
