#include "flow/replay.h"
#include "util/opt.h"

#include "tap.h"

void
tap_replay(struct tap *tap, const char *path, const char *endpoint)
{
    struct flow_replay *replay;
    struct err err;
    const char *where;
    int rc;

    tap_open(tap);
    replay = flow_replay_open(path, &err);
    if (!replay)
        die("%s", err.msg);
    where = stage_endpoint(&tap->stage, endpoint, flow_replay_edge(replay));
    if (!where)
        opt_misuse("replay where? -r DIR or an endpoint");
    rc = flow_replay_run(replay, tap->stage.wire, tap->stage.stop, where,
                         tap->to, &err);
    flow_replay_close(replay);
    if (rc)
        die("%s", err.msg);
    tap_close(tap);
}
