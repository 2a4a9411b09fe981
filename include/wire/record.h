#pragma once

#include <stdio.h>

#include "wire/msg.h"

/*
 * Recordings of a stream: unchanged messages, one after the other.
 *
 *     file     "FOILREC1", then messages until the end
 *     message  u64 time, u32 from, u32 parts, then each part
 *     part     u64 length, then so many bytes
 *
 * Numbers are little-endian.  time is in nanoseconds since 1970;
 * from is 0 for the binder (or publisher), else the number of the connecting
 * peer.
 */
struct wire_record {
    uint64_t time;
    uint32_t from;
};

/* wire_record_start() writes the file's first bytes: 0 or -1. */
int wire_record_start(FILE *file, struct err *err);

/* wire_record_put() appends one message. */
int wire_record_put(FILE *file, const struct wire_record *record,
                    const struct wire_msg *msg, struct err *err);

/* wire_record_open() opens a recording for reading; NULL on error. */
FILE *wire_record_open(const char *path, struct err *err);

/* wire_record_next() reads the next message: 1 with a message, to be freed by
 * wire_msg_free(), 0 at the end, -1 with a message.  A part is allocated only
 * when it fits in the rest of the file. */
int wire_record_next(FILE *file, struct wire_record *record,
                     struct wire_msg **msg, struct err *err);
