#ifndef WIRE_ADDRESS_H
#define WIRE_ADDRESS_H

#include "util/err.h"

/*
 * Endpoints as text: tcp://HOST:PORT, ipc://PATH, inproc://NAME.
 *
 * wire_address_check() returns 0, or -1 with a sentence: another transport, a
 * port that is none, or an ipc address that is no file, as files alone have
 * owners and modes.
 *   binds   1: the port may be *
 *
 * wire_address_is_local() returns 1 when nobody outside this machine can reach
 * or fake a tcp address: it is one of loopback in numbers, or localhost, or for
 * one that binds the interface lo.  Another name is whatever its server says
 * when ZeroMQ asks.
 */
int wire_address_check(const char *endpoint, int binds, struct err *err);
int wire_address_is_tcp(const char *endpoint);
int wire_address_is_local(const char *endpoint, int binds);

#endif
