#ifndef WIRE_DECODE_H
#define WIRE_DECODE_H

#include "message.h"

/*
 * A message on its way into a struct: lib/wire/decode.c reads its header, by
 * the fields of its kind, lib/wire/tensors.c its tensors.  What is wrong is
 * said by wire_read_fail().
 */
struct wire_decoder {
    struct wire_reader r;
    const struct wire_message *m;
    void *x;
    int64_t size;     /* of our data set; 0: not known */
    unsigned settled; /* bit i: m->sizes[i] is */
};

/* wire_decode_images(): samples are below it; 0: not known. */
int64_t wire_decode_images(const struct wire_decoder *d);

/* wire_decode_tensor() finds the tensor of a field, right in type, sizes and
 * elements, and lends it to the struct. */
void wire_decode_tensor(struct wire_decoder *d, const struct wire_field *f);

/* wire_decode_sizes(): the sizes of t agree with those of the message; t is
 * NULL where a tensor is missing, and sizes that it would have given are 0. */
void wire_decode_sizes(struct wire_decoder *d, const struct wire_field *f,
                       const struct wire_tensor *t);

#endif
