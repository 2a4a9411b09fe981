#pragma once

#include <stddef.h>

/*
 * A gate limits the bytes and the connections of peers before ZeroMQ reads
 * them.  ZeroMQ has no such hook, so a gate replaces functions of the C library
 * for the whole process.  foil's tools have one (tools/shared/gate.c), libfoil
 * has none: sockets of another program have no such limits, unless it sets
 * wire_gate.
 */

/* Why a connection was refused: too many connections, it sent too much, it does
 * not read what we send. */
enum wire_gate_refusal {
    WIRE_GATE_CROWDED,
    WIRE_GATE_GREEDY,
    WIRE_GATE_STUCK,
    WIRE_GATE_REFUSALS
};

/* Functions for binding sockets, called from any thread.  A gate is the
 * listening descriptor; each function ignores other descriptors. */
struct wire_gate {
    /* Sets how many unread bytes a peer may have sent, before it is admitted
     * and after, for the socket that this thread binds next. */
    void (*expect_next)(size_t stranger, size_t known);
    /* Returns the gate of that socket after zmq_bind(), or -1 when ZeroMQ
     * listened by another function. */
    int (*take_listener)(void);
    /* Changes the bytes of an admitted peer. */
    void (*expect_known)(int gate, size_t known);
    /* The socket has no message left. */
    void (*note_drained)(int gate);
    /* A message of so many parts and bytes was read from fd. */
    void (*count_read)(int gate, int fd, size_t parts, size_t bytes);
    /* The peer connected by fd is known. */
    void (*admit_peer)(int gate, int fd);
    /* Return 1 when a connection was accepted; when bytes came. */
    int (*has_accepted)(int gate);
    int (*has_received)(int gate);
    /* Returns how many connections were refused for that reason since its last
     * call. */
    unsigned (*take_refused)(int gate, enum wire_gate_refusal why);
    /* Closes the connections that have been stuck since its last call, which
     * was at least a second ago. */
    void (*drop_stuck)(int gate);
};

/* The gate of this program, or NULL; set before the first socket is bound. */
extern const struct wire_gate *wire_gate;
