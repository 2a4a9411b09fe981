#ifndef WIRE_DECODE_H
#define WIRE_DECODE_H

#include "message.h"

/*
 * The state of decoding a message: lib/wire/decode.c reads the header, by the
 * fields of its kind, lib/wire/tensors.c the tensors.  Errors are set by
 * wire_read_fail().
 */
struct wire_decoder {
    struct wire_reader r;
    const struct wire_message *m;
    void *x;
    int64_t size;     /* of our data set; 0: not known */
    unsigned settled; /* bit i: m->sizes[i] is known */
};

/* wire_decode_images() returns the bound of sample ids; 0: not known. */
int64_t wire_decode_images(const struct wire_decoder *d);

/* wire_decode_tensor() finds the tensor of a field, checks its type, sizes and
 * elements, and sets the pointer in the struct. */
void wire_decode_tensor(struct wire_decoder *d, const struct wire_field *f);

/* wire_decode_sizes() checks the sizes of t against those of the message, or
 * sets them; t is NULL for a missing tensor, which sets unknown sizes to 0. */
void wire_decode_sizes(struct wire_decoder *d, const struct wire_field *f,
                       const struct wire_tensor *t);

#endif
