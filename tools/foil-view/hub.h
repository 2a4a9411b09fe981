#ifndef FOIL_VIEW_HUB_H
#define FOIL_VIEW_HUB_H

#include <microhttpd.h>

#include "util/json.h"

/*
 * Server-sent events to all pages, from one ring with a place in it for each
 * page.  Nobody waits for a page: one that is too slow, or does not read, is
 * sent the number of messages that it has lost.
 *
 * Not for two threads at once: the daemon is run by the thread that speaks.
 */
struct hub;

enum { HUB_PAGES = 64 }; /* that listen at a time */

struct hub *hub_open(void);

/* hub_publish() sends all pages an event of that name, and gives up the object.
 * It takes a few microseconds, whatever the pages do. */
void hub_publish(struct hub *hub, const char *event, json_t *object);

/* hub_beat() keeps connections alive; to be called every few seconds. */
void hub_beat(struct hub *hub);

/* hub_pages() returns how many listen. */
size_t hub_pages(const struct hub *hub);

/* hub_answer() returns a response that goes on for as long as the page is
 * there; NULL where there are too many. */
struct MHD_Response *hub_answer(struct hub *hub,
                                struct MHD_Connection *connection);

/* hub_wake() lets all pages end; before the daemon is stopped. */
void hub_wake(struct hub *hub);
void hub_close(struct hub *hub);

#endif
