#ifndef WIRE_GUARD_H
#define WIRE_GUARD_H

#include <stddef.h>

#include "util/err.h"

/*
 * wire_guard() checks the bytes of a header before msgpack-c, which allocates
 * by declared counts, reads them: `dd ff 00 00 00` would make it allocate
 * gigabytes.  It accepts one map with text keys, of at most WIRE_HEADER_MAX
 * bytes, WIRE_DEPTH_MAX deep, with every declared count and length within the
 * remaining bytes, and nothing after it.  Extension types are refused.  Returns
 * 0 or -1; allocates nothing; O(len).
 */
int wire_guard(const void *bytes, size_t len, struct err *err);

#endif
