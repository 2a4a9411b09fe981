#ifndef WIRE_CODEC_H
#define WIRE_CODEC_H

#include "wire/msg.h"

/*
 * Between messages and structs, for every kind by its table of fields
 * (lib/wire/message.h).  Callers use the typed names that the headers of the
 * messages make of these: a struct of another kind would be garbage here.
 *
 * wire_encode() makes a message of a struct; arrays are copied into it.  The
 * struct is right: what is wrong in it is a bug of ours.
 *
 * wire_decode() fills a struct with a stranger's message.
 *   size   images in our data set, for ids; 0 when not known
 * Returns 0, or -1 with a sentence and an empty struct.  Arrays of the struct
 * point into the message; a struct that has such holds it, and is to be
 * released.
 *
 * wire_release() lets go of what wire_decode() took; the struct is empty then.
 * Harmless on one that is empty.
 */
struct wire_msg *wire_encode(enum wire_kind kind, const void *from);
int wire_decode(enum wire_kind kind, void *to, const struct wire_msg *msg,
                int64_t size, struct err *err);
void wire_release(enum wire_kind kind, void *held);

/*
 * The typed names of a kind, where struct wire_NAME
 *
 *     WIRE_PLAIN   holds all of itself:
 *                  wire_NAME_put(x), wire_NAME_get(x, msg, err)
 *     WIRE_HELD    has arrays: wire_NAME_release(x) too
 *     WIRE_SIZED   has arrays and ids:
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

#define WIRE_HELD(name, kind)                                                  \
    WIRE_PUT(name, kind)                                                       \
    WIRE_RELEASE(name, kind)                                                   \
    static inline int wire_##name##_get(struct wire_##name *to,                \
                                        struct wire_msg *msg, struct err *err) \
    {                                                                          \
        return wire_decode(kind, to, msg, 0, err);                             \
    }

#define WIRE_SIZED(name, kind)                                              \
    WIRE_PUT(name, kind)                                                    \
    WIRE_RELEASE(name, kind)                                                \
    static inline int wire_##name##_get(struct wire_##name *to,             \
                                        struct wire_msg *msg, int64_t size, \
                                        struct err *err)                    \
    {                                                                       \
        return wire_decode(kind, to, msg, size, err);                       \
    }

#endif
