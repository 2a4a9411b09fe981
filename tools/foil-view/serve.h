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

struct serve *serve_open(const struct serve_how *how, struct watch *watch,
                         struct hub *hub, struct err *err);
void serve_close(struct serve *serve);

/* serve_port() returns the port.  serve_run() answers what has come; call it
 * when serve_fd() is readable, and after serve_due() seconds. */
uint16_t serve_port(const struct serve *serve);
int serve_fd(const struct serve *serve);
double serve_due(const struct serve *serve);
void serve_run(struct serve *serve);

#endif
