#ifndef WIRE_ZAP_H
#define WIRE_ZAP_H

#include "wire/keys.h"

/*
 * ZAP (rfc.zeromq.org/spec/27): ZeroMQ asks here whether a CURVE key may come
 * in, and is told the key's role, which every message then carries.  A thread
 * of its own answers, so that a peer comes in while the stage computes: it
 * touches its socket and `keys`, which nobody changes, and takes no signals.
 *
 * wire_zap_open() binds the handler in a ZeroMQ context, before any socket that
 * needs it, and starts the thread.  NULL with a sentence on error.
 *   keys   certificates to let in; stay the caller's until wire_zap_close()
 *
 * wire_zap_refused() returns how many keys were refused since it was asked
 * last, with the reason of the last of them.  Safe beside the thread.
 *
 * wire_zap_close() shuts the context down, which ends the thread, and waits for
 * that.  zmq_ctx_term() is still the caller's.  Harmless on NULL.
 */
struct wire_zap;

struct wire_zap *wire_zap_open(void *context, const struct wire_keys *keys,
                               struct err *err);
unsigned wire_zap_refused(struct wire_zap *zap, struct err *why);
void wire_zap_close(struct wire_zap *zap);

#endif
