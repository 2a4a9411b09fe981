#ifndef WIRE_BOUNDS_H
#define WIRE_BOUNDS_H

#include <stddef.h>

/*
 * What a peer may make us hold: for the files of this room.
 *
 * ZeroMQ bounds the size of a part, and the number of messages that wait for
 * the tool.  It bounds neither the parts of one message, which it keeps until
 * the last one is there, nor connections; and until the handshake is over a
 * stranger may send a part as large as anybody's.  It hands nobody the bytes
 * as they come.  So this file stands between it and the system: it defines
 * socket(), listen(), accept(), accept4(), recv(), send() and close(), which
 * libzmq finds here before the C library, and does three things there.
 *
 * - Bytes of a connection that have come, and are of no message that the tool
 *   has read, are counted.  Beyond what its peer may have under way, recv()
 *   says ECONNRESET, and ZeroMQ frees all that it kept of it.  For the bytes
 *   of ZMTP itself WIRE_GATE_RATE a second are forgotten.
 * - A connection whose descriptor would be WIRE_GATE_FDS - WIRE_GATE_SPARE or
 *   beyond (or that much below RLIMIT_NOFILE) is closed at once: so many there
 *   are at most, and the tool can still open its files.
 * - EMFILE, of which libzmq 4.3.4 dies on ipc, becomes ECONNABORTED.
 *
 * All peers of a socket that were admitted may together have no more under way
 * than one of them.  Beyond, the one that has had a message under way for
 * longest, of WIRE_GATE_SMALL bytes at least, is hung up: a peer that sends at
 * once what it has stays.
 *
 * send() is there to know which peer does not take what we send: one that has
 * something to read, and takes less than WIRE_GATE_TAKES bytes a second, is
 * stuck.
 *
 * Only connections that a bound socket accepted are touched.  The functions
 * may be called from any thread.
 *
 * The functions of a program take the place of the C library's, and would do
 * so for all that it does.  So gate.c is in the tools and their tests, and not
 * in libfoil: what binds in another program is not bounded (wire/sock.h).
 *
 * A message tells its descriptor, which may be another connection's by the time
 * it is read.  So each connection has a number beside its descriptor, and a
 * message by a descriptor that had a connection of this gate before counts for
 * the present one only after the socket has been seen empty since that came.
 */
enum {
    WIRE_GATE_FDS = 1024,
    WIRE_GATE_SPARE = 64,
    WIRE_GATE_RATE = 32,
    WIRE_GATE_SMALL = 64 << 10,
    WIRE_GATE_TAKES = 64 << 10,
};

/* Why a connection was refused: there are too many, it sent too much, it does
 * not take what we send. */
enum wire_gate_refusal {
    WIRE_GATE_CROWDED,
    WIRE_GATE_GREEDY,
    WIRE_GATE_STUCK,
    WIRE_GATE_REFUSALS
};

/*
 * What the gate does for sockets that bind.  A gate is a number, a descriptor;
 * all pass over one that is none.
 *
 *   expect_next   what peers of the socket that this thread binds next may have
 *                 under way, in bytes: one that was not admitted, one that was
 *   take_made     after zmq_bind(): the number of its gate, or -1 when ZeroMQ
 *                 did not listen through us
 *   expect_known  sets anew what an admitted peer may have under way
 *   note_drained  the tool has seen that no message is there
 *   count_read    the tool has read a message of so many parts and bytes
 *   admit_peer    the peer of a message that was read is known
 *   has_met       1 when a connection was taken
 *   has_heard     1 when bytes came
 *   take_refused  how many connections were refused for that since it was asked
 *                 last
 *   drop_stuck    hangs up all connections that were stuck since the last look,
 *                 a second ago at least
 */
struct wire_gate {
    void (*expect_next)(size_t stranger, size_t known);
    int (*take_made)(void);
    void (*expect_known)(int gate, size_t known);
    void (*note_drained)(int gate);
    void (*count_read)(int gate, int fd, size_t parts, size_t bytes);
    void (*admit_peer)(int gate, int fd);
    int (*has_met)(int gate);
    int (*has_heard)(int gate);
    unsigned (*take_refused)(int gate, enum wire_gate_refusal why);
    void (*drop_stuck)(int gate);
};

/* wire_gate_guards() returns 1 when bytes that ZeroMQ reads come by the gate of
 * this program: a byte is sent through it, once in a process. */
int wire_gate_guards(void);

/* The gate of this program, NULL where it has none; set before main(). */
extern const struct wire_gate *wire_gate;

#endif
