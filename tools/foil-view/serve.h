#ifndef FOIL_VIEW_SERVE_H
#define FOIL_VIEW_SERVE_H

#include <stdint.h>

#include "watch.h"

/*
 * The page of a run over HTTP.  Only GET is answered, below /TOKEN/, so that a
 * page's relative addresses carry the token, and no cookie does: cookies of one
 * host are sent to all its ports.  The Host of a request is an address or a
 * name of this machine, so that no other page can read this one by a name of
 * its own (DNS rebinding).  Run by one thread.
 */
struct serve;

struct serve_how {
    const char *address; /* to listen at: a number, "127.0.0.1" */
    uint16_t port;       /* 0: any that is free */
    const char *token;   /* "": none */
};

/* serve_open() listens; a request ends a stage_wait() of the watch's stage
 * (stage_watch()).  NULL with a sentence. */
struct serve *serve_open(const struct serve_how *how, struct watch *watch,
                         struct err *err);
void serve_close(struct serve *serve);

/* serve_port() returns the port. */
uint16_t serve_port(const struct serve *serve);

/* Reads what the trainer published and answers the requests that have come:
 * for stage_run(), with the struct serve. */
extern const struct stage_handlers serve_handlers;

#endif
