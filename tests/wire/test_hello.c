#include <string.h>

#include "t.h"
#include "wire/hello.h"

static const struct wire_hello plain = {
    .stage = "augment",
    .run = "r1",
    .peer = "augment-7",
    .recipe = "cifar",
    .version = WIRE_VERSION,
    .digest = "0123456789abcdef0123456789abcdef",
    .size = 50000,
};

/* test_message.c tests the table. */
static void
greeting(void)
{
    struct wire_hello old = plain, got;
    struct wire_msg *msg;
    struct err err = {""};

    old.version = 0;
    msg = wire_hello_put(&old);
    T(!wire_hello_get(&got, msg, &err) && got.version == WIRE_VERSION,
      "a hello that we send has our version: %s", err.msg);
    wire_msg_free(msg);
    old.size = 0;
    *old.digest = 0;
    msg = wire_hello_put(&old);
    T(!wire_hello_get(&got, msg, &err) && !got.size,
      "a data set may not be known yet: %s", err.msg);
    wire_msg_free(msg);
}

static void
fitting(void)
{
    struct wire_hello other = plain;
    struct err err = {""};

    T(!wire_hello_fits(&plain, &other, &err), "equal ones fit");
    other.version = WIRE_VERSION + 1;
    T(wire_hello_fits(&plain, &other, &err), "version: %s", err.msg);
    other = plain;
    snprintf(other.run, sizeof other.run, "r2");
    T(wire_hello_fits(&plain, &other, &err), "run: %s", err.msg);
    *other.run = 0;
    T(!wire_hello_fits(&plain, &other, &err), "no run fits every run");
    other.size++;
    T(wire_hello_fits(&plain, &other, &err), "size: %s", err.msg);
    other = plain;
    other.digest[0] = 'f';
    T(wire_hello_fits(&plain, &other, &err), "digest: %s", err.msg);
    *other.digest = 0;
    T(!wire_hello_fits(&plain, &other, &err), "no data set fits every one");
    *other.recipe = 'C';
    T(wire_hello_fits(&plain, &other, &err), "recipe: %s", err.msg);
    *other.recipe = 0;
    T(!wire_hello_fits(&plain, &other, &err), "no recipe fits every one");
    wire_hello_name(&other);
    other.rank[1] = 2;
    T(wire_hello_fits(&plain, &other, &err) && strstr(err.msg, "part 0 of 2"),
      "a part: %s", err.msg);
    other.rank[1] = 0;
    T(!strcmp(other.peer, "augment-7"), "an existing name remains");
    *other.peer = 0;
    wire_hello_name(&other);
    T(!strncmp(other.peer, "augment-", 8), "else one is made: %s", other.peer);
}

int
main(void)
{
    greeting();
    fitting();
    return t_done();
}
