#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/digest.h"
#include "util/err.h"

static struct digest
canonical_digest(XXH128_hash_t hash)
{
    XXH128_canonical_t bytes;
    struct digest digest;

    XXH128_canonicalFromHash(&bytes, hash);
    memcpy(digest.byte, bytes.digest, sizeof digest.byte);
    return digest;
}

struct digest
digest_bytes(const void *data, size_t len)
{
    return canonical_digest(XXH3_128bits(data, len));
}

struct digest_stream *
digest_new(void)
{
    XXH3_state_t *state = XXH3_createState();

    REQUIRE(state);
    XXH3_128bits_reset(state);
    return (struct digest_stream *)state;
}

void
digest_add(struct digest_stream *stream, const void *data, size_t len)
{
    XXH3_128bits_update((XXH3_state_t *)stream, data, len);
}

struct digest
digest_end(struct digest_stream *stream)
{
    struct digest digest =
        canonical_digest(XXH3_128bits_digest((XXH3_state_t *)stream));

    XXH3_freeState((XXH3_state_t *)stream);
    return digest;
}

char *
digest_hex(struct digest digest, char hex[DIGEST_HEX])
{
    for (size_t i = 0; i < sizeof digest.byte; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest.byte[i]);
    return hex;
}

int
digest_from_hex(struct digest *digest, const char *hex)
{
    static const char digits[] = "0123456789abcdef";

    if (strlen(hex) != DIGEST_HEX - 1 || hex[strspn(hex, digits)])
        return -1;
    for (size_t i = 0; i < sizeof digest->byte; i++)
        digest->byte[i] = (uint8_t)((strchr(digits, hex[2 * i]) - digits) << 4 |
                                    (strchr(digits, hex[2 * i + 1]) - digits));
    return 0;
}

uint64_t
digest_word(const struct digest *digest)
{
    uint64_t word = 0;

    for (size_t i = 0; i < 8; i++)
        word = word << 8 | digest->byte[i];
    return word;
}

static int
by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

size_t
digest_shared(size_t n, const struct digest *some, size_t m,
              struct digest *others)
{
    size_t shared = 0;

    qsort(others, m, sizeof *others, by_bytes);
    for (size_t i = 0; i < n; i++)
        shared +=
            bsearch(&some[i], others, m, sizeof *others, by_bytes) != NULL;
    return shared;
}
