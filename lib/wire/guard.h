#ifndef WIRE_GUARD_H
#define WIRE_GUARD_H

#include <stddef.h>

#include "util/err.h"

/*
 * wire_guard() walks the bytes of a header before msgpack-c, which allocates
 * from declared counts, may see them: `dd ff 00 00 00` would ask it for
 * gigabytes.  Passes one map, with text for keys, of at most WIRE_HEADER_MAX
 * bytes, WIRE_DEPTH_MAX deep, in which every declared count and length fits
 * in the bytes that are left, and behind which nothing follows.  Extension
 * types are refused.  Returns 0 or -1; allocates nothing; O(len).
 */
int wire_guard(const void *bytes, size_t len, struct err *err);

#endif
