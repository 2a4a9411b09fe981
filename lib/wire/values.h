#ifndef WIRE_VALUES_H
#define WIRE_VALUES_H

#include "wire/metrics.h"
#include "wire/pack.h"

/*
 * A map from names to numbers in a header: for the decoders of this room.
 * wire_values_read() returns how many there are, at most `max`; 0 after a
 * fault.
 */
void wire_values_write(struct wire_writer *w, const char *key,
                       const struct wire_metric *values, size_t n);
size_t wire_values_read(struct wire_reader *r, const char *key,
                        struct wire_metric *values, size_t max);

#endif
