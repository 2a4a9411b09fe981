#include <stdlib.h>

#include "util/mem.h"

#include "outbox.h"

struct augment_ready {
    struct wire_place at;
    struct wire_msg *msg;
};

int
augment_outbox_wants(const struct augment_outbox *outbox,
                     const struct wire_place *at)
{
    const struct wire_place now = wire_client_place(outbox->trainer);

    return at->session == now.session && wire_place_cmp(at, &now) >= 0;
}

void
augment_outbox_send(struct augment_outbox *outbox)
{
    size_t left = 0;

    for (size_t i = 0; i < outbox->n; i++) {
        struct augment_ready *ready = &outbox->ready[i];
        int sent;

        sent = augment_outbox_wants(outbox, &ready->at) &&
               wire_client_send(outbox->trainer, ready->msg);
        outbox->sent += sent;
        if (!sent && augment_outbox_wants(outbox, &ready->at))
            outbox->ready[left++] = *ready;
        else
            wire_msg_free(ready->msg);
    }
    outbox->n = left;
}

void
augment_outbox_put(struct augment_outbox *outbox, const struct wire_place *at,
                   struct wire_msg *msg)
{
    mem_grow(&outbox->ready, &outbox->room, outbox->n + 1,
             sizeof *outbox->ready);
    outbox->ready[outbox->n++] = (struct augment_ready){*at, msg};
    augment_outbox_send(outbox);
}

void
augment_outbox_release(struct augment_outbox *outbox)
{
    for (size_t i = 0; i < outbox->n; i++)
        wire_msg_free(outbox->ready[i].msg);
    free(outbox->ready);
}
