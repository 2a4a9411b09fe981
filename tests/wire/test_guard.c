#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "wire/msg.h"
#include "wire/pack.h"

static int
passes(const char *bytes, size_t len)
{
    struct err err = {""};
    int rc = wire_guard(bytes, len, &err);

    T(rc == 0 || *err.msg, "the reason is set: %s", err.msg);
    return rc == 0;
}

#define PASSES(text) passes(text, sizeof(text) - 1)

static void
good(void)
{
    T(PASSES("\x80"), "an empty map");
    T(PASSES("\x81\xa1k\x01"), "one pair");
    T(PASSES("\xde\x00\x01\xd9\x01k\xc0"), "long forms");
    T(PASSES("\x81\xa1k\x93\x01\xa1x\x91\x90"), "depth 4");
    T(PASSES("\x82\xa1k\xcb\x3f\xf0\0\0\0\0\0\0\xa1l\xc4\x02"
             "ab"),
      "a float, a bin");
}

static void
bombs(void)
{
    T(!PASSES("\xdd\xff\x00\x00\x00"), "4 billion items in 5 bytes");
    T(!PASSES("\xdf\xff\x00\x00\x00"), "4 billion pairs in 5 bytes");
    T(!PASSES("\x81\xa1k\xdd\xff\x00\x00\x00"), "the same inside");
    T(!PASSES("\x81\xa1k\xdd\x00\x00\x00\x02\x01"), "one item short");
    T(!PASSES("\x81\xa1k\xc6\xff\xff\xff\xff"), "a bin of 4 GB");
    T(!PASSES("\x81\xa1k\xdb\xff\xff\xff\xff"), "a text of 4 GB");
    T(!PASSES("\x81\xa1k\x91\x91\x91\x90"), "depth 5");
    T(!PASSES("\x81\xa1k\xd4\x01x"), "an extension type");
    T(!PASSES("\x81\xa1k\xc1"), "an unused tag");
}

static void
edges(void)
{
    static char big[WIRE_HEADER_MAX + 1];

    T(!passes("", 0), "nothing");
    T(!PASSES("\x90"), "an array");
    T(!PASSES("\x81"), "a map that ends early");
    T(!PASSES("\x81\xa1k"), "a key without value");
    T(!PASSES("\x81\x01\x01"), "a key that is not text");
    T(!PASSES("\x80\x80"), "bytes after the end");
    T(!PASSES("\x81\xa1k\xcb\x3f"), "half a float");

    // {"k": bin} of exactly the largest size, then one more
    memcpy(big, "\x81\xa1k\xc5", 4);
    big[4] = (char)((WIRE_HEADER_MAX - 6) >> 8);
    big[5] = (char)((WIRE_HEADER_MAX - 6) & 255);
    T(passes(big, WIRE_HEADER_MAX), "the largest header");
    big[5]++;
    T(!passes(big, WIRE_HEADER_MAX + 1), "a byte more");
}

int
main(void)
{
    good();
    bombs();
    edges();
    return t_done();
}
