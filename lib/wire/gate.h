#ifndef WIRE_GATE_H
#define WIRE_GATE_H

#include <stddef.h>

/*
 * What a peer may make us hold: for the files of this room.
 *
 * ZeroMQ bounds the size of a part, and the number of messages that wait for
 * the tool.  It bounds neither the parts of one message, which it keeps until
 * the last one is there, nor connections; and until the handshake is over a
 * stranger may send a part as large as anybody's.  It hands nobody the bytes
 * as they come.  So this file stands between it and the system: it defines
 * socket(), listen(), accept(), accept4() and recv(), which libzmq finds here
 * before the C library, and does three things there.
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
 * Only connections that a bound socket accepted are touched.  The functions
 * may be called from any thread.
 *
 * The functions of a program take the place of the C library's, those inside of
 * a shared library do not.  So what binds has libfoil.a in it: with
 * libfoil.so.1 nothing is counted, and wire_sock_bind() refuses to bind.
 */
enum { WIRE_GATE_FDS = 1024, WIRE_GATE_SPARE = 64, WIRE_GATE_RATE = 32 };

/*
 * wire_gate_next() says what peers of the socket that this thread binds next
 * may have under way, in bytes; wire_gate_made() returns, after that, the
 * number of its gate, or -1 when ZeroMQ did not listen through us.
 * Both belong around every zmq_bind().  wire_gate_called() returns 0 where none
 * of ZeroMQ's calls come by here, as within libfoil.so.1.
 *   stranger   who was not admitted
 *   known      who was
 */
void wire_gate_next(size_t stranger, size_t known);
int wire_gate_made(void);
int wire_gate_called(void);

/* wire_gate_expect() sets anew what a known peer may have under way. */
void wire_gate_expect(int gate, size_t known);

/*
 * wire_gate_read() says that the tool has read a message of `parts` parts and
 * so many bytes from connection fd; wire_gate_admit() that its peer is known.
 * Both pass over an fd that is none.
 */
void wire_gate_read(int fd, size_t parts, size_t bytes);
void wire_gate_admit(int fd);

/* wire_gate_met() returns 1 when a connection was taken. */
int wire_gate_met(int gate);

/*
 * wire_gate_refused() returns how many connections the gate has refused since
 * it was asked last.
 *   cut    of them, those that sent too much; the others were too many
 */
unsigned wire_gate_refused(int gate, unsigned *cut);

#endif
