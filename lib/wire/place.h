#ifndef WIRE_PLACE_H
#define WIRE_PLACE_H

#include "wire/next.h"
#include "wire/pack.h"

/* The keys session, epoch, step, which many messages share. */
void wire_place_write(struct wire_writer *w, const struct wire_place *at);
void wire_place_read(struct wire_reader *r, struct wire_place *at);

#endif
