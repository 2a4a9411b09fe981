#include "wire/hello.h"

struct wire_msg *
wire_hello_put(const struct wire_hello *hello)
{
    struct wire_hello ours = *hello;

    ours.version = WIRE_VERSION;
    return wire_encode(WIRE_HELLO, &ours);
}

int
wire_hello_get(struct wire_hello *hello, const struct wire_msg *msg,
               struct err *err)
{
    return wire_decode(WIRE_HELLO, hello, msg, 0, err);
}
