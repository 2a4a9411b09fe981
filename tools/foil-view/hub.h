#pragma once

#include <microhttpd.h>

#include "util/json.h"

/*
 * Server-sent events to all pages, from one ring buffer.  foil-view never waits
 * for a page: a page that reads too slowly loses messages and is sent their
 * number.
 *
 * One thread: the one that runs the HTTP daemon also calls these functions.
 */
struct hub;

enum { HUB_PAGES = 64 }; /* open at a time */

struct hub *hub_open(void);

/* hub_publish() sends an event of this name to all pages and frees the object.
 * It takes a few microseconds and never blocks.  hub_ping() keeps connections
 * alive: call it every few seconds.  hub_pages() returns the number of open
 * pages. */
void hub_publish(struct hub *hub, const char *event, json_t *object);
void hub_ping(struct hub *hub);
size_t hub_pages(const struct hub *hub);

/* hub_answer() returns a response that lasts as long as the page is open; NULL
 * if HUB_PAGES are open. */
struct MHD_Response *hub_answer(struct hub *hub,
                                struct MHD_Connection *connection);

/* hub_end() ends the responses of all pages.  Call it before the daemon is
 * stopped. */
void hub_end(struct hub *hub);
void hub_close(struct hub *hub);
