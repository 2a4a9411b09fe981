#ifndef FOIL_VIEW_SERVE_H
#define FOIL_VIEW_SERVE_H

#include <stdint.h>

#include "watch.h"

/*
 * The page of a run over HTTP.  It answers only GET below /TOKEN/.  The token
 * is in the path and not in a cookie, since browsers send the cookies of a host
 * to all its ports.  The Host of a request must be a numeric address or a name
 * of this machine; this stops DNS rebinding.
 *
 * serve_page() listens, prints the page's address, answers requests and
 * publishes the trainer's messages to pages, until a signal stops the tool.  It
 * exits with an error if it cannot listen.
 *   address  numeric, as "127.0.0.1"
 *   port     0: any free port
 *   token    "": none
 */
void serve_page(struct watch *watch, const char *address, uint16_t port,
                const char *token);

#endif
