#include "wire/proxy.h"
#include "util/clock.h"
#include "util/opt.h"

#include "tap.h"

void
tap_proxy(struct tap *tap, char **operand)
{
    const struct wire_limits limits = {.queue = 64};
    struct wire_proxy *proxy;
    struct wire_msg *msg;
    struct err err;
    int over = 0;

    tap_open(tap);
    proxy = wire_proxy_open(tap->stage.wire, operand[0], operand[1], tap->to,
                            &limits, &err);
    if (!proxy)
        die("%s", err.msg);
    while (!over && stage_wait(&tap->stage, 1)) {
        struct wire_record from = {0};
        int rc;

        while (wire_refused(tap->stage.wire, &err))
            log_message("%s", err.msg);
        while (!over && (rc = wire_proxy_next(proxy, &from.from, &msg, &err))) {
            if (rc < 0) {
                tap_complain(err.msg);
                continue;
            }
            from.time = clock_wall();
            over = tap_report(tap, msg, &from);
            wire_msg_free(msg);
        }
    }
    wire_proxy_close(proxy);
    tap_close(tap);
}
