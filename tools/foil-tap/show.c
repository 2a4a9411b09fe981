#include "util/opt.h"
#include "util/stop.h"

#include "tap.h"

void
tap_show(struct tap *tap, const char *path, const char *none)
{
    struct wire_record from;
    struct wire_msg *msg;
    struct err err;
    FILE *file;
    int rc, over = 0;

    (void)none;
    tap_open(tap);
    file = wire_record_open(path, &err);
    if (!file)
        die("%s", err.msg);
    while (!over && (rc = wire_record_next(file, &from, &msg, &err))) {
        if (rc < 0)
            die("'%s': %s", path, err.msg);
        over = stop_requested() || tap_report(tap, msg, &from);
        wire_msg_free(msg);
    }
    fclose(file);
    tap_close(tap);
}
