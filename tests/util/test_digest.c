#include <string.h>

#include "t.h"
#include "util/digest.h"

/* What `printf '' | xxh128sum` and `printf abc | xxh128sum` print. */
static void
known_answers(void)
{
    struct digest empty = digest_bytes("", 0), abc = digest_bytes("abc", 3);
    char hex[DIGEST_HEX];

    T(!strcmp(digest_hex(empty, hex), "99aa06d3014798d86001c324468d497f"),
      "nothing: %s", hex);
    T(!strcmp(digest_hex(abc, hex), "06b05ab6733a618578af5f94892f3950"),
      "abc: %s", hex);
    T(digest_word(&abc) == 0x06b05ab6733a6185, "first 8 bytes as a number");
}

static void
pieces_equal_the_whole(void)
{
    unsigned char data[5000];
    struct digest whole, pieces;
    struct digest_stream *stream = digest_new();

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + i / 256);
    whole = digest_bytes(data, sizeof data);
    for (size_t at = 0, n = 1; at < sizeof data; at += n, n *= 3) {
        if (n > sizeof data - at)
            n = sizeof data - at;
        digest_add(stream, data + at, n);
    }
    pieces = digest_end(stream);
    T(!memcmp(&whole, &pieces, sizeof whole), "pieces give the same digest");
    data[4999] ^= 1;
    pieces = digest_bytes(data, sizeof data);
    T(memcmp(&whole, &pieces, sizeof whole), "one bit changes it");
}

static void
text_and_back(void)
{
    struct digest a = digest_bytes("foil", 4), b;
    char hex[DIGEST_HEX];

    T(!digest_from_hex(&b, digest_hex(a, hex)) && !memcmp(&a, &b, sizeof a),
      "hex and back");
    hex[31] = 'g';
    T(digest_from_hex(&b, hex) == -1, "no hex digit");
    hex[31] = 'A';
    T(digest_from_hex(&b, hex) == -1, "capitals are not canonical");
    hex[31] = 0;
    T(digest_from_hex(&b, hex) == -1, "31 digits");
    T(digest_from_hex(&b, "") == -1, "no digits");
    T(digest_from_hex(&b, "000000000000000000000000000000000") == -1,
      "33 digits");
}

static void
shared_of_two(void)
{
    struct digest some[3], others[4];

    for (size_t i = 0; i < 3; i++)
        some[i] = digest_bytes(&"aba"[i], 1);
    for (size_t i = 0; i < 4; i++)
        others[i] = digest_bytes(&"dacx"[i], 1);
    T(digest_shared(3, some, 4, others) == 2, "a twice is shared, b is not");
    T(digest_shared(0, NULL, 4, others) == 0, "an empty set shares none");
    T(digest_shared(3, some, 2, (struct digest[]){some[1], some[2]}) == 3,
      "all of some are shared");
}

int
main(void)
{
    known_answers();
    pieces_equal_the_whole();
    text_and_back();
    shared_of_two();
    return t_done();
}
