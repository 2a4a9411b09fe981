#include "flow/replay.h"
#include "util/opt.h"
#include "util/stop.h"

#include "tap.h"

void
tap_show(struct tap *tap, char **operand)
{
    struct wire_record from;
    struct wire_msg *msg;
    struct err err;
    FILE *file;
    int rc, over = 0;

    tap_open(tap);
    file = wire_record_open(*operand, &err);
    if (!file)
        die("%s", err.msg);
    while (!over && (rc = wire_record_next(file, &from, &msg, &err))) {
        if (rc < 0)
            die("'%s': %s", *operand, err.msg);
        over = stop_requested() || tap_report(tap, msg, &from);
        wire_msg_free(msg);
    }
    fclose(file);
    tap_close(tap);
}

void
tap_replay(struct tap *tap, char **operand)
{
    struct flow_replay *replay;
    struct err err;
    const char *where;
    int rc;

    tap_open(tap);
    replay = flow_replay_open(operand[0], &err);
    if (!replay)
        die("%s", err.msg);
    where = stage_endpoint(&tap->stage, operand[1], flow_replay_edge(replay));
    if (!where)
        opt_misuse("replay where? -r DIR or an endpoint");
    rc = flow_replay_run(replay, tap->stage.wire, tap->stage.stop, where,
                         tap->to, &err);
    flow_replay_close(replay);
    if (rc)
        die("%s", err.msg);
    tap_close(tap);
}
