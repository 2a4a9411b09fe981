#pragma once

#include "wire/msg.h"

/*
 * Conversion between messages and structs, by the table of fields of each kind
 * (lib/wire/message.h).  Callers use the typed functions in the headers of the
 * messages: these ones do not check that the struct is of the kind.
 *
 * wire_encode() returns a new message with the values of a struct, to be freed
 * by wire_msg_free(); arrays are copied into it.  A value out of range is a
 * bug.
 *
 * wire_decode() fills a struct with an untrusted message.
 *   size   images in our data set, the bound of ids; 0: not known
 * Returns 0, or -1 with a message and an empty struct.  Arrays of the struct
 * point into the message; a struct with arrays holds the message (its `msg`)
 * and has to be released.
 *
 * wire_release() releases a decoded struct, which is empty then.  Harmless on
 * an empty one.
 */
struct wire_msg *wire_encode(enum wire_kind kind, const void *from);
int wire_decode(enum wire_kind kind, void *to, const struct wire_msg *msg,
                int64_t size, struct err *err);
void wire_release(enum wire_kind kind, void *held);

/*
 * The typed functions of a kind, for a struct wire_NAME
 *
 *     WIRE_PLAIN   without pointers:
 *                  wire_NAME_put(x), wire_NAME_get(x, msg, err)
 *     WIRE_HELD    with arrays: wire_NAME_release(x) too
 *     WIRE_SIZED   with arrays and ids:
 *                  wire_NAME_get(x, msg, size, err), wire_NAME_release(x)
 */
#define WIRE_PUT(name, kind)                          \
    static inline struct wire_msg *wire_##name##_put( \
        const struct wire_##name *from)               \
    {                                                 \
        return wire_encode(kind, from);               \
    }

#define WIRE_RELEASE(name, kind)                                       \
    static inline void wire_##name##_release(struct wire_##name *held) \
    {                                                                  \
        wire_release(kind, held);                                      \
    }

#define WIRE_PLAIN(name, kind)                                               \
    WIRE_PUT(name, kind)                                                     \
    static inline int wire_##name##_get(                                     \
        struct wire_##name *to, const struct wire_msg *msg, struct err *err) \
    {                                                                        \
        return wire_decode(kind, to, msg, 0, err);                           \
    }

#define WIRE_HELD(name, kind) \
    WIRE_PLAIN(name, kind)    \
    WIRE_RELEASE(name, kind)

#define WIRE_SIZED(name, kind)                                              \
    WIRE_PUT(name, kind)                                                    \
    WIRE_RELEASE(name, kind)                                                \
    static inline int wire_##name##_get(struct wire_##name *to,             \
                                        struct wire_msg *msg, int64_t size, \
                                        struct err *err)                    \
    {                                                                       \
        return wire_decode(kind, to, msg, size, err);                       \
    }
