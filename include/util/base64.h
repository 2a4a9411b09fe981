#ifndef UTIL_BASE64_H
#define UTIL_BASE64_H

#include <stddef.h>
#include <stdint.h>

/*
 * base64_encode() returns n bytes as text, RFC 4648 section 4: A-Z a-z 0-9 + /,
 * padded with '=', without line breaks.  The caller frees it.
 */
char *base64_encode(const uint8_t *bytes, size_t n);

#endif
