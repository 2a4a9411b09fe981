#ifndef WIRE_ZAP_H
#define WIRE_ZAP_H

#include "wire/keys.h"

/*
 * ZAP (rfc.zeromq.org/spec/27): ZeroMQ asks this handler whether a CURVE key is
 * allowed, and receives the key's role, which every message then carries.  A
 * separate thread answers, so that a peer can connect while the stage computes:
 * it uses its socket and `keys`, which do not change, and takes no signals.
 *
 * wire_zap_open() binds the handler in a ZeroMQ context, before any socket that
 * needs it, and starts the thread.  NULL with a sentence on error.
 *   keys   allowed certificates, borrowed until wire_zap_close()
 *
 * wire_zap_refused() returns how many keys were refused since the last call,
 * with the reason of the last of them.  May be called while the thread runs.
 *
 * wire_zap_close() shuts the context down, which ends the thread, and waits for
 * that.  The caller still calls zmq_ctx_term().  Harmless on NULL.
 */
struct wire_zap;

struct wire_zap *wire_zap_open(void *context, const struct wire_keys *keys,
                               struct err *err);
unsigned wire_zap_refused(struct wire_zap *zap, struct err *why);
void wire_zap_close(struct wire_zap *zap);

#endif
