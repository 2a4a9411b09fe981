#ifndef WIRE_NEWS_H
#define WIRE_NEWS_H

#include "util/tally.h"
#include "wire/next.h"

/*
 * What the end of an edge reports to the loop of its tool.
 */
enum wire_what {
    WIRE_JOINED,  /* a peer and we have greeted; again after a renewal */
    WIRE_LEFT,    /* a peer is gone: hand its leases to others */
    WIRE_MESSAGE, /* news.msg is for you: item, batch, reject, pairs ... */
    WIRE_MOVED,   /* a newer session: all is handed out anew, from news.at */
    WIRE_PASSED,  /* every step before news.at is trained */
    WIRE_BACK,    /* the consumer went back to news.at, or who spoke of a later
                   * place was wrong: as after WIRE_MOVED */
    WIRE_ENDED, /* at a client, from a producer: nothing at or after news.at */
    WIRE_OVER,  /* at a client: the run is over */
    WIRE_UNWANTED, /* the other end refuses our item or batch of news.at */
    WIRE_REPORT /* say news.why: something was refused, and changed nothing */
};

struct wire_news {
    enum wire_what what;
    uint64_t peer;        /* number of the peer; 0 on the connecting side */
    struct wire_place at; /* where a place belongs to it */
    struct wire_msg *msg; /* WIRE_MESSAGE: lasts until the next call */
    struct err why; /* WIRE_REPORT; of WIRE_UNWANTED "" where it need not be
                     * printed */
};

#endif
