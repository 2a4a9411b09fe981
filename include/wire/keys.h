#pragma once

#include <stddef.h>

#include "util/err.h"
#include "wire/msg.h"

/*
 * CURVE keys: which peers may connect to a socket that others can reach.
 *
 * Files are certificates in CZMQ's format, which pyzmq's zmq.auth reads and
 * writes, too: NAME.key (public) and NAME.key_secret (both keys, mode 0600).
 * The metadata line `role = "augment"` is the stage for which the key is valid:
 * select, augment, train, negatives, tap, or any.
 */
enum { WIRE_KEY_TEXT = 41 }; /* a key in Z85: 40 characters, and a zero byte */

struct wire_cert {
    char public_key[WIRE_KEY_TEXT], secret_key[WIRE_KEY_TEXT], role[32];
    char name[64]; /* of the file, without its ending */
};

struct wire_keys {
    struct wire_cert own;
    struct wire_cert *allowed; /* [n] public ones */
    size_t n;
};

/*
 * wire_keys_open() reads our own certificate `own`, with the secret key, and
 * every public one in the folder `allow`.  It refuses a secret key that others
 * can read, and a folder, or a file in it, that belongs to another user than us
 * or root, or that others can write to.  wire_keys_find() returns the allowed
 * certificate with that role, or NULL with a message: there is none, or more
 * than one.
 */
int wire_keys_open(struct wire_keys *keys, const char *own, const char *allow,
                   struct err *err);
void wire_keys_release(struct wire_keys *keys);
const struct wire_cert *wire_keys_find(const struct wire_keys *keys,
                                       const char *role, struct err *err);

/* wire_keys_role() returns the role of an allowed public key, 32 bytes, or
 * NULL when it is not allowed. */
const char *wire_keys_role(const struct wire_keys *keys, const void *key);

/* wire_role_known() returns 1 for the roles above; wire/edge.h has the ends of
 * edges at which they are allowed. */
int wire_role_known(const char *role);

/* wire_keys_make() makes a new pair: DIR/NAME.key and DIR/NAME.key_secret.
 * Existing files are not overwritten. */
int wire_keys_make(const char *dir, const char *name, const char *role,
                   struct err *err);
