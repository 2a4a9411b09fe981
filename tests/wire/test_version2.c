/*
 * Messages of version 2 of the protocol: those that we send to a peer that
 * speaks it are, to the byte, those of the last foil that spoke nothing else,
 * and ours are read from them.
 */
#include <stdlib.h>

#include "t.h"
#include "util/digest.h"
#include "wire/events.h"
#include "wire/hello.h"
#include "wire/pack.h"

#include "message_each.h"

/* Digests of all parts of the examples of that foil, with the required fields
 * alone, and with all. */
static const char *const digests[WIRE_KINDS][2] = {
    [WIRE_HELLO] = {"981e1fa7e4c4c8b9f11cb573c36668e3",
                    "0e3d4a3e508860df8f8811f20133074d"},
    [WIRE_ERROR] = {"650c597d77625adeb02d36b6cae9cfe2",
                    "ce959fa0ae9f39b9216470bb6a36f0b7"},
    [WIRE_WANT] = {"4eb66a916386dbb77c7aa0043cc5bf98",
                   "6f3a11d0a5e2b508aa76088283956cf2"},
    [WIRE_END] = {"e4c96979be84b398c254529e43ee2ec6",
                  "50cd8576ff40c1796014f02bf126e44b"},
    [WIRE_HEARTBEAT] = {"03b9008332edccf4db543586cd591580",
                        "7a9297f9b6c84429990d460ae0360e75"},
    [WIRE_REJECT] = {"3d0c15aad3eac409ced8dccdeeb8d995",
                     "3d0c15aad3eac409ced8dccdeeb8d995"},
    [WIRE_ITEM] = {"df1e2dc9aa9fa9c371e907fc15a1ee6a",
                   "1eb8165c6a7937c8d4aae6b5cd78194e"},
    [WIRE_BATCH] = {"f53fabb18bcea200a06fc7eba98be863",
                    "c54749883cb87448b0cae605478bcd19"},
    [WIRE_FEATURES] = {"815385d8ee14b1b7c6237d331e8ffcac",
                       "3f7bb1609a7ce93907b429842583baf8"},
    [WIRE_WEIGHTS_GET] = {"8913a72128f3f2aea21f12ea54e8f30c",
                          "9701f1ebc7e8b6df3d66e5fdf89c2918"},
    [WIRE_WEIGHTS] = {"6339f810cf261378e2d2a2bdc1e54410",
                      "29af87b6ae858d4599c3c9d2f4a9d2c3"},
    [WIRE_STATE_PUT] = {"46eb9c97b85500c6319614e171160dfc",
                        "6a32152bd8bf6ef38ed0dd3ea325c3d1"},
    [WIRE_OK] = {"aab13a1b42bb0198057f5b355e175d73",
                 "aab13a1b42bb0198057f5b355e175d73"},
    [WIRE_EVENT] = {"b59e361cc9f93411b0a24b4c68ea05b9",
                    "7fc8542dbc17965787963a1d26d7d0a1"},
    [WIRE_METRICS] = {"a017866d12a55092ba8bca792fb233fb",
                      "a017866d12a55092ba8bca792fb233fb"},
    [WIRE_FEATURES_GET] = {"cb78ffbfa23cfc16443176c20f1d65aa",
                           "651613a908459b15f96b4bc1471cd492"},
    [WIRE_PLAN] = {"8f8caadb4eff719c09f2fd348aad1a46",
                   "8f8caadb4eff719c09f2fd348aad1a46"},
    [WIRE_STATUS] = {"22eff9f19797306dd73de5a171ce0493",
                     "22eff9f19797306dd73de5a171ce0493"},
    [WIRE_TOP_NEGATIVES] = {"80ea955e4425c809adc9abbe802a3b51",
                            "80ea955e4425c809adc9abbe802a3b51"},
};

static void
digest_of(const struct wire_msg *msg, char hex[DIGEST_HEX])
{
    struct digest part[WIRE_PARTS_MAX], all;

    for (size_t i = 0; i < wire_msg_parts(msg); i++) {
        const struct wire_part of = wire_msg_part(msg, i);

        part[i] = digest_bytes(of.data, of.len);
    }
    all = digest_bytes(part, wire_msg_parts(msg) * sizeof *part);
    digest_hex(all, hex);
}

static void
kind_is_old(int full)
{
    static _Alignas(16) char got[1 << 15];
    struct wire_part part[WIRE_PARTS_MAX];
    struct wire_msg *ours, *old, *read, *same;
    char hex[DIGEST_HEX];
    struct err err = {""};
    void *x;

    example_start();
    x = example_make(kind, full);
    if (kind == WIRE_HELLO)
        ((struct wire_hello *)x)->version = WIRE_VERSION;
    ours = wire_encode(kind, x);
    old = wire_msg_to_old(ours, WIRE_VERSION_OLD);
    digest_of(old, hex);
    T(!strcmp(hex, digests[kind][full]), "%s%s: the bytes of version 2: %s",
      message->name, full ? ", all fields" : "", hex);
    for (size_t i = 0; i < wire_msg_parts(old); i++)
        part[i] = wire_msg_part(old, i);
    read = wire_msg_from(wire_msg_parts(old), part, &err);
    wire_msg_free(old);
    T(read && read->kind == kind && read->version == WIRE_VERSION_OLD,
      "%s is read from version 2", message->name);
    REQUIRE(read && !wire_decode(kind, got, read, 0, &err));
    if (kind == WIRE_HELLO) {
        T(((struct wire_hello *)(void *)got)->version == WIRE_VERSION_OLD,
          "a hello has its version");
        ((struct wire_hello *)(void *)got)->version = WIRE_VERSION;
    }
    same = wire_encode(kind, got);
    T(same_bytes(same, ours), "%s has what was sent", message->name);
    wire_msg_free(same);
    if (message->held)
        wire_release(kind, got);
    wire_msg_free(read);
    wire_msg_free(ours);
}

/* A message that needs an extension which we lack is refused. */
static void
requires_is_checked(void)
{
    static const struct {
        const char *header;
        size_t n;
        int good;
        const char *what;
    } all[] = {
        {"\x81\xa8requires\x90", 11, 1, "nothing"},
        {"\x81\xa8requires\x91\xa5lanes", 17, 0, "an extension"},
        {"\x81\xa8requires\x91\xa6groups", 18, 1, "the groups of views"},
        {"\x81\xa8requires\x92\xa6groups\xa5lanes", 24, 0, "two"},
        {"\x81\xa8requires\x91\x01", 12, 0, "a number"},
        {"\x81\xa8requires\xa5lanes", 16, 0, "a text"},
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct wire_part part[] = {{"foil3.heartbeat", 15},
                                   {all[i].header, all[i].n}};
        struct err err = {""};
        struct wire_msg *msg = wire_msg_from(2, part, &err);

        T(!msg == !all[i].good, "requires has %s: %s", all[i].what, err.msg);
        if (i == 1)
            T(strstr(err.msg, "requires 'lanes'"), "its name is printed");
        wire_msg_free(msg);
    }
}

int
main(void)
{
    for (int k = 0; k < WIRE_KINDS; k++) {
        kind = (enum wire_kind)k;
        message = &wire_messages[kind];
        kind_is_old(0);
        kind_is_old(1);
    }
    requires_is_checked();
    return t_done();
}
