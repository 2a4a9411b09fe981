#include "t.h"
#include "wire/hello.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_hello hello;

    return wire_hello_get(&hello, msg, err);
}

static const struct wire_hello plain = {
    .stage = "augment",
    .run = "r1",
    .peer = "augment-7",
    .recipe = "cifar",
    .version = 1,
    .digest = "0123456789abcdef0123456789abcdef",
    .size = 50000,
    .greeting = 3,
};

static void
round_trip(void)
{
    static const struct change changes[] = {
        {"stage", NULL, -1},
        {"stage", "7", -1},
        {"version", NULL, -1},
        {"version", "2", 0},
        {"version", "'1'", -1},
        {"version", "-1", -1},
        {"run", NULL, -1},
        {"run", "''", 0},
        {"dataset", NULL, -1},
        {"dataset", "{}", -1},
        {"dataset", "7", -1},
        {"peer", NULL, 0},
        {"peer", "7", -1},
        {"recipe", NULL, 0},
        {"recipe", "7", -1},
        {"greeting", NULL, 0},
        {"greeting", "0", -1},
        {"greeting", "1.5", -1},
        {"colour", "'blue'", 0},
        {"tensors", "[]", 0},
        {"tensors", "7", -1},
        {"stage", "'a name longer than a stage may have here'", -1},
        {NULL, NULL, 0},
    };
    struct wire_msg *msg = again(wire_hello_put(&plain));
    struct wire_hello got;
    struct err err = {""};

    T(wire_msg_kind(msg) == WIRE_HELLO, "kind");
    T(wire_hello_get(&got, msg, &err) == 0, "decodes: %s", err.msg);
    T(!strcmp(got.stage, "augment") && !strcmp(got.run, "r1") &&
          !strcmp(got.peer, "augment-7") && !strcmp(got.recipe, "cifar") &&
          got.version == 1 && !strcmp(got.digest, plain.digest) &&
          got.size == 50000 && got.greeting == 3,
      "as it was");
    judge_all(get, msg, changes);
    wire_msg_free(msg);
}

static void
data_sets(void)
{
    struct wire_hello odd = plain;
    struct wire_msg *msg;
    struct err err = {""};

    odd.size = 0;
    msg = wire_hello_put(&odd);
    T(get(msg, &err), "a digest of no images: %s", err.msg);
    wire_msg_free(msg);
    *odd.digest = 0;
    msg = wire_hello_put(&odd);
    T(!get(msg, &err), "a data set that is not known yet");
    wire_msg_free(msg);
    odd = plain;
    odd.digest[3] = 'x';
    msg = wire_hello_put(&odd);
    T(get(msg, &err), "no digest: %s", err.msg);
    wire_msg_free(msg);
}

static void
fitting(void)
{
    struct wire_hello other = plain;
    struct err err = {""};

    T(!wire_hello_fits(&plain, &other, &err), "the same fit");
    other.version = 2;
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
    T(!strcmp(other.peer, "augment-7"), "a name that is there stays");
    *other.peer = 0;
    wire_hello_name(&other);
    T(!strncmp(other.peer, "augment-", 8), "else one is made: %s", other.peer);
}

int
main(void)
{
    round_trip();
    data_sets();
    fitting();
    return t_done();
}
