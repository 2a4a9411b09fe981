#ifndef WIRE_ZAP_H
#define WIRE_ZAP_H

#include "wire/keys.h"

/*
 * ZAP (rfc.zeromq.org/spec/27): ZeroMQ asks here whether a CURVE key may come
 * in, and is told the key's role, which every message then carries.
 *
 * wire_zap_open() binds the handler in a ZeroMQ context, before any socket
 * that needs it.  wire_zap_serve() answers what has been asked, up to the
 * first that it refuses: then it returns 1 with a sentence, else 0.
 */
void *wire_zap_open(void *context, struct err *err);
int wire_zap_serve(void *zap, const struct wire_keys *keys, struct err *why);

#endif
