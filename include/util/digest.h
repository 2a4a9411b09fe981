#pragma once

#include <stddef.h>
#include <stdint.h>

/* XXH3-128 (the xxHash library): distinguishes files and data sets that differ
 * by accident.  It does not protect against deliberate collisions. */
struct digest {
    uint8_t byte[16]; /* canonical order: as `xxh128sum` prints it */
};

enum { DIGEST_HEX = 33 }; /* 32 digits and the final zero */

/* digest_bytes() returns the digest of len bytes. */
struct digest digest_bytes(const void *data, size_t len);

/* digest_new() .. digest_end(): the same for data that comes in pieces. */
struct digest_stream;
struct digest_stream *digest_new(void);
void digest_add(struct digest_stream *stream, const void *data, size_t len);
struct digest digest_end(struct digest_stream *stream); /* frees it */

/* digest_hex() writes 32 hexadecimal digits and a zero; returns hex. */
char *digest_hex(struct digest digest, char hex[DIGEST_HEX]);

/* digest_from_hex() reads such text: 0, or -1 for any other text. */
int digest_from_hex(struct digest *digest, const char *hex);

/* digest_word() returns the first 8 bytes as a number, for use as a seed. */
uint64_t digest_word(const struct digest *digest);

/* digest_shared() returns how many of n digests are among m others; it sorts
 * `others`.  O((n + m) log m). */
size_t digest_shared(size_t n, const struct digest *some, size_t m,
                     struct digest *others);
