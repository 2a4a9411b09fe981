#ifndef FLOW_REPLAY_H
#define FLOW_REPLAY_H

#include "wire/sock.h"

/*
 * A recording (wire/record.h) played as the stage that made it.
 *
 * With batches in it, it is an augmenter: it greets the trainer as the
 * recorded one did, brings each batch that is wanted, in the order of the
 * steps, and says end.  With items and no batches it is the selector.  Either
 * hands out again what was lost, as a producer (flow/producer.h).  Only the
 * session is the present one; every tensor is what was recorded.
 */
struct flow_replay;

/*
 * flow_replay_open() reads a recording through and remembers where in the
 * file each step is; NULL on error.  Of a step that is there twice the first
 * counts.
 */
struct flow_replay *flow_replay_open(const char *path, struct err *err);
void flow_replay_close(struct flow_replay *replay);

/* flow_replay_edge() returns the edge that it plays on: "batch" or "plan". */
const char *flow_replay_edge(const struct flow_replay *replay);

/*
 * flow_replay_run() plays until the other end says that the run is over, or
 * stop_fd becomes readable: 0; or -1 with a sentence.
 *   role   of the trainer, where there are keys
 */
int flow_replay_run(struct flow_replay *replay, struct wire *wire, int stop_fd,
                    const char *endpoint, const char *role, struct err *err);

#endif
