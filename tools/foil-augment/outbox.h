#ifndef FOIL_AUGMENT_OUTBOX_H
#define FOIL_AUGMENT_OUTBOX_H

#include "wire/client.h"

/*
 * Batches that are made and could not be sent yet, for want of credit, of a
 * trainer or of room in the queue.  Each is kept until it can be sent or is not
 * wanted any more: nobody else would make it.  There are no more of them than
 * items that we asked for.
 */
struct augment_outbox {
    struct wire_client *trainer;
    struct augment_ready *ready; /* [n], oldest first */
    size_t n, room;
    long sent;
};

/* Whether the trainer still waits for the step at a place. */
int augment_outbox_wants(const struct augment_outbox *outbox,
                         const struct wire_place *at);

/* Takes the message over, and sends what can be sent. */
void augment_outbox_put(struct augment_outbox *outbox,
                        const struct wire_place *at, struct wire_msg *msg);
void augment_outbox_send(struct augment_outbox *outbox);
void augment_outbox_release(struct augment_outbox *outbox);

#endif
