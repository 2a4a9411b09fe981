#ifndef FOIL_AUGMENT_SERVE_H
#define FOIL_AUGMENT_SERVE_H

#include "wire/keys.h"

#include "maker.h"

/*
 * augment_serve() gets items from a selector and brings their batches to a
 * trainer (flow/relay.h), until the run is over, --max-items are sent, or a
 * signal comes; it ends the tool where that cannot be.  keys may be NULL.
 */
void augment_serve(struct augment_maker *maker, const struct wire_keys *keys);

#endif
