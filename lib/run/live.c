#include "run/live.h"

#include <string.h>

#include "util/clock.h"

int
run_live_open(struct run_live *live, struct wire *wire, const char *endpoint,
              const char *const kinds[RUN_LISTENERS], size_t queue,
              struct err *err)
{
    const struct wire_limits limits = {.queue = queue};

    *live = (struct run_live){.received_at = 0};
    for (int i = 0; i < RUN_LISTENERS && kinds[i]; i++) {
        live->listener[i] =
            wire_listener_open(wire, endpoint, kinds[i], &limits, err);
        if (!live->listener[i])
            return -1;
    }
    return 0;
}

void
run_live_close(struct run_live *live)
{
    wire_msg_free(live->msg);
    for (int i = 0; i < RUN_LISTENERS; i++)
        wire_listener_close(live->listener[i]);
    run_stages_release(&live->stages);
}

/* Handles the newest message: 1 if the caller gets it. */
static int
take_message(struct run_live *live)
{
    struct err ignored;

    switch (wire_msg_kind(live->msg)) {
    case WIRE_METRICS:
        return !wire_metrics_get(&live->metrics, live->msg, &ignored) &&
               !strcmp(live->metrics.stage, "train");
    case WIRE_STATUS:
        if (wire_status_get(&live->status, live->msg, &ignored))
            return 0;
        if (live->past) // the run was resumed: drop the old stages
            run_stages_release(&live->stages);
        live->past = 0;
        run_stages_put(&live->stages, &live->status, live->received_at);
        return 1;
    case WIRE_EVENT:
        if (wire_event_get(&live->event, live->msg, &ignored))
            return 0;
        // a later event comes from a restarted trainer
        live->over = !strcmp(live->event.what, "stop");
        memcpy(live->reason, live->event.reason, sizeof live->reason);
        return 1;
    default:
        return 1;
    }
}

int
run_live_next(struct run_live *live)
{
    struct err ignored;

    for (int i = 0; i < RUN_LISTENERS; i++) {
        int rc;

        do {
            wire_msg_free(live->msg);
            live->msg = NULL;
            rc = live->listener[i]
                     ? wire_listener_next(live->listener[i], &live->msg,
                                          &live->missed, &ignored)
                     : 0;
            if (rc > 0)
                live->received_at = clock_now();
        } while (rc && (rc < 0 || !take_message(live)));
        if (rc)
            return 1;
    }
    return 0;
}
