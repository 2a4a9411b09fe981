#ifndef WIRE_ADDRESS_H
#define WIRE_ADDRESS_H

#include "util/err.h"

/*
 * Endpoints as text: tcp://HOST:PORT, ipc://PATH, inproc://NAME.
 *
 * wire_address_check() returns 0, or -1 with a sentence: another transport, an
 * invalid port, or an ipc address that is not a file: only files have owners
 * and modes.
 *   binds   1: the port may be *
 *
 * wire_address_is_local() returns 1 when no other machine can reach or fake a
 * tcp address: a numeric loopback address, localhost, or for a binder the
 * interface lo.  Any other name depends on the name server that ZeroMQ asks.
 */
int wire_address_check(const char *endpoint, int binds, struct err *err);
int wire_address_is_tcp(const char *endpoint);
int wire_address_is_local(const char *endpoint, int binds);

#endif
