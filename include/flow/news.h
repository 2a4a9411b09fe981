#ifndef FLOW_NEWS_H
#define FLOW_NEWS_H

#include "util/tally.h"
#include "wire/next.h"

/*
 * What the end of an edge reports to the loop of its tool.
 */
enum flow_what {
    FLOW_NOTHING, /* that need concern it */
    FLOW_JOINED,  /* a peer and we have greeted; again after a renewal */
    FLOW_LEFT,    /* a peer is gone: hand its leases to others */
    FLOW_MESSAGE, /* news.msg is for you: item, batch, reject, pairs ... */
    FLOW_MOVED,   /* a newer session: all is handed out anew, from news.at */
    FLOW_PASSED,  /* every step before news.at is trained */
    FLOW_BACK,  /* the consumer went back to news.at, or a peer that spoke of a
                 * later place was wrong: as after FLOW_MOVED */
    FLOW_ENDED, /* as a producer says: nothing at or after news.at */
    FLOW_OVER,  /* the run is over */
    FLOW_UNWANTED, /* the other end refuses our item or batch of news.at */
    FLOW_REPORT /* say news.why: something was refused, and changed nothing */
};

struct flow_news {
    enum flow_what what;
    uint64_t peer;          /* number of the peer; 0 on the connecting side */
    struct wire_place at;   /* where a place belongs to it */
    struct wire_msg *msg;   /* FLOW_MESSAGE: lasts until the next call, */
    struct wire_next *next; /* as this does, where it is a snapshot; or NULL */
    struct err why; /* FLOW_REPORT; of FLOW_UNWANTED "" where it need not be
                     * printed */
};

#endif
