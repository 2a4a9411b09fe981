#ifndef FOIL_VIEW_SERVE_H
#define FOIL_VIEW_SERVE_H

#include <stdint.h>

#include "watch.h"

/*
 * The page of a run over HTTP.  Only GET is answered, below /TOKEN/, so that a
 * page's relative addresses carry the token, and no cookie does: cookies of one
 * host are sent to all its ports.  The Host of a request is an address or a
 * name of this machine, so that no other page can read this one by a name of
 * its own (DNS rebinding).
 *
 * serve_page() listens, prints the page's address, and answers until we are
 * asked to end; dies where it cannot listen.  It publishes what the trainer
 * sends, too.
 *   address  a number, "127.0.0.1"
 *   port     0: any that is free
 *   token    "": none
 */
void serve_page(struct watch *watch, const char *address, uint16_t port,
                const char *token);

#endif
