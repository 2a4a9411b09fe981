#include <stdio.h>
#include <string.h>

#include "t.h"
#include "wire/msg.h"
#include "wire/progress.h"

#define PART(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

static int
taken(size_t n, const struct wire_part *part, struct err *err)
{
    struct wire_msg *msg = wire_msg_from(n, part, err);

    wire_msg_free(msg);
    return msg != NULL;
}

static void
kinds(void)
{
    static const char *const odd[] = {
        "",
        "foil",
        "foil3",
        "foil3.",
        "foil3.x",
        "foil3.batchx",
        "foil3batch",
        "nonsense",
        "foil.x",
        "foil1.batch",
        "foil0.hello",
        "FOIL2.hello",
        "foil22.hello",
    };
    struct wire_part part[] = {{NULL, 0}, PART("\x80")};
    struct err err;

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        part[0] = (struct wire_part){odd[i], strlen(odd[i])};
        T(!taken(2, part, &err), "'%s': %s", odd[i], err.msg);
    }
    part[0] = (struct wire_part)PART("foil1.batch");
    taken(2, part, &err);
    T(!strcmp(err.msg, "peer speaks foil1, this is foil3"),
      "another version is refused by name");
    for (int k = 0; k < WIRE_KINDS; k++) {
        char name[32];

        snprintf(name, sizeof name, "foil3.%s", wire_kind_name(k));
        part[0] = (struct wire_part){name, strlen(name)};
        T(taken(2, part, &err), "%s is known", name);
    }
}

static void
counts(void)
{
    struct wire_part part[WIRE_PARTS_MAX + 1] = {PART("foil3.heartbeat"),
                                                 PART("\x80")};
    struct err err;

    T(!taken(0, part, &err), "no part: %s", err.msg);
    T(!taken(1, part, &err), "no header: %s", err.msg);
    T(!taken(3, part, &err), "a tensor that is not listed: %s", err.msg);
    T(!taken(WIRE_PARTS_MAX + 1, part, &err), "too many: %s", err.msg);
    part[1] = (struct wire_part)PART("\xdd\xff\x00\x00\x00");
    T(!taken(2, part, &err), "a bomb: %s", err.msg);
}

/* A heartbeat with one tensor: its entry in the header, and its bytes. */
static int
tensor_taken(const char *list, size_t n, const void *data, size_t len)
{
    char header[128] = "\x81\xa7tensors";
    struct wire_part part[] = {
        PART("foil3.heartbeat"), {header, 9 + n}, {data, len}};
    struct err err = {""};
    int ok;

    memcpy(header + 9, list, n);
    ok = taken(3, part, &err);
    T(ok || *err.msg, "(%s)", err.msg);
    return ok;
}

#define LIST(text) text, sizeof(text) - 1

static const float two[] = {1, 2}, inf[] = {1, INFINITY},
                   nan_first[] = {NAN, 2};
static const double huge[] = {HUGE_VAL};
static const uint16_t bf[] = {0x3f80, 0x7f80};

static const struct {
    const char *list;
    size_t n;
    const void *data;
    size_t len;
    int good;
    const char *what;
} tensor_lists[] = {
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\x02"),
     two, 8, 1, "two floats"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\x02"),
     two, 7, 0, "a byte short"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\x03"),
     two, 8, 0, "an item short"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\x01"),
     two, 8, 0, "an item too many"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\x02"),
     inf, 8, 0, "infinity"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\x02"),
     nan_first, 8, 0, "not a number"},
    {LIST("\x91\x93\xa1z\xa2"
          "f8\x91\x01"),
     huge, 8, 0, "in double"},
    {LIST("\x91\x93\xa1z\xa2"
          "bf\x91\x02"),
     bf, 4, 0, "in bfloat16"},
    {LIST("\x91\x93\xa1z\xa2"
          "bf\x91\x01"),
     bf, 2, 1, "one bfloat16"},
    {LIST("\x91\x93\xa1z\xa2"
          "u1\x90"),
     "x", 1, 1, "no size: one item"},
    {LIST("\x91\x93\xa1z\xa2"
          "u1\x91\x00"),
     "", 0, 1, "size 0: none"},
    {LIST("\x91\x93\xa1z\xa2"
          "c8\x91\x01"),
     huge, 8, 0, "no such dtype"},
    {LIST("\x91\x93\xa0\xa2"
          "f4\x91\x02"),
     two, 8, 0, "no name"},
    {LIST("\x91\x92\xa1z\xa2"
          "f4"),
     two, 8, 0, "no shape"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x91\xff"),
     two, 8, 0, "size -1"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x97\1\1\1\1\1\1\2"),
     two, 8, 0, "rank 7"},
    {LIST("\x91\x93\xa1z\xa2"
          "f4\x92\xcf\x80\0\0\0\0\0\0\0\x02"),
     two, 8, 0, "a size that overflows"},
    {LIST("\x91\x93\xa1z\xa2"
          "u1\x94\xce\xff\xff\xff\xff\xce\xff\xff\xff"
          "\xff\xce\xff\xff\xff\xff\xce\xff\xff\xff\xff"),
     two, 8, 0, "a product that overflows"},
    {LIST("\x92\x93\xa1z\xa2"
          "f4\x91\x02\x93\xa1y\xa2"
          "f4\x91\x02"),
     two, 8, 0, "two are listed, one is present"},
    {LIST("\x03"), two, 8, 0, "'tensors' is not a list"},
};

static void
tensors(void)
{
    for (size_t i = 0; i < sizeof tensor_lists / sizeof *tensor_lists; i++) {
        const char *what = tensor_lists[i].what;
        const int ok = tensor_taken(tensor_lists[i].list, tensor_lists[i].n,
                                    tensor_lists[i].data, tensor_lists[i].len);

        T(ok == tensor_lists[i].good, "%s: %s", what, ok ? "taken" : "refused");
    }
}

/* Data is aligned for decoders, wherever its bytes are. */
static void
alignment(void)
{
    static const char header[] = "\x81\xa7tensors\x91\x93\xa1z\xa2"
                                 "f8\x91\x02";
    const double want[] = {0.5, 0.25};
    int bad = 0;

    for (size_t shift = 0; shift < 8; shift++) {
        char room[32];
        struct wire_part part[] = {
            PART("foil3.heartbeat"), PART(header), {room + shift, 16}};
        struct err err;
        struct wire_msg *msg;
        const struct wire_tensor *z;

        memcpy(room + shift, want, 16);
        msg = wire_msg_from(3, part, &err);
        z = wire_msg_find(msg, "z");
        bad += (uintptr_t)z->data % 8 || memcmp(z->data, want, 16);
        wire_msg_free(msg);
    }
    T(bad == 0, "aligned");
}

static void
twice(void)
{
    struct wire_part part[] = {
        PART("foil3.end"),
        PART("\x84\xa7session\x01\xa5"
             "epoch\x01\xa4step\x01\xa4step\x02"),
    };
    struct wire_end end;
    struct err err = {""};
    struct wire_msg *msg = wire_msg_from(2, part, &err);

    T(msg && wire_end_get(&end, msg, &err), "a key twice: %s", err.msg);
    wire_msg_free(msg);
}

int
main(void)
{
    struct wire_msg *msg = wire_heartbeat_put(&(struct wire_heartbeat){0});

    kinds();
    counts();
    tensors();
    alignment();
    twice();
    T(wire_msg_parts(msg) == 2 && wire_msg_bytes(msg) == 16,
      "a heartbeat is small");
    T(!*wire_msg_role(msg) && wire_msg_tensors(msg) == 0,
      "a heartbeat has no role and no tensor");
    wire_msg_free(wire_msg_hold(msg));
    T(wire_msg_kind(msg) == WIRE_HEARTBEAT, "the last reference frees");
    wire_msg_free(msg);
    wire_msg_free(NULL);
    return t_done();
}
