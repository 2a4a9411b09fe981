#ifndef FOIL_VIEW_SERVE_H
#define FOIL_VIEW_SERVE_H

#include <stdint.h>

#include "watch.h"

/*
 * The page of a run over HTTP.  Only GET is answered; requests are judged by
 * the name of the host that they ask, so that no page of elsewhere reads this
 * one by a name of its own (DNS rebinding), and by the token where there is
 * one.  Run by one thread: serve_run() does what is due.
 */
struct serve;

struct serve_how {
    const char *address; /* to listen at: a number, "127.0.0.1" */
    uint16_t port;       /* 0: any that is free */
    const char *token;   /* NULL: none is wanted */
};

struct serve *serve_open(const struct serve_how *how, struct watch *watch,
                         struct hub *hub, struct err *err);
void serve_close(struct serve *serve);

/* serve_port() returns the port; serve_fd() a descriptor that is readable when
 * something is due. */
uint16_t serve_port(const struct serve *serve);
int serve_fd(const struct serve *serve);
void serve_run(struct serve *serve);

#endif
