#pragma once

#include "wire/sock.h"

/*
 * Plays a recording (wire/record.h) in the role of the stage that made it.
 *
 * A recording with batches plays as an augmenter: it sends the trainer the
 * recorded hello and each wanted batch, in the order of the steps, then end.
 * One with items and no batches plays as the selector.  Both send lost messages
 * again, as a producer does (flow/producer.h).  Only the session is the present
 * one; every tensor is as recorded.
 */
struct flow_replay;

/* flow_replay_open() reads the whole recording and notes the file offset of
 * each step; NULL on error.  When a step occurs twice, the first counts. */
struct flow_replay *flow_replay_open(const char *path, struct err *err);
void flow_replay_close(struct flow_replay *replay);

/* flow_replay_edge() returns the edge on which it plays: "batch" or "plan". */
const char *flow_replay_edge(const struct flow_replay *replay);

/*
 * flow_replay_run() plays until the other end reports the end of the run, or
 * stop_fd becomes readable: 0; or -1 with a message.
 *   role   the trainer's, when there are keys
 */
int flow_replay_run(struct flow_replay *replay, struct wire *wire, int stop_fd,
                    const char *endpoint, const char *role, struct err *err);
