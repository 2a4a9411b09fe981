#ifndef FLOW_NEWS_H
#define FLOW_NEWS_H

#include "util/tally.h"
#include "wire/next.h"

/*
 * What the end of an edge reports to the loop of its tool.
 */
enum flow_what {
    FLOW_NOTHING, /* nothing that the tool has to act on */
    FLOW_JOINED,  /* a peer and we have greeted; comes again when renewed */
    FLOW_LEFT,    /* a peer is gone: hand its leases to others */
    FLOW_MESSAGE, /* news.msg is for the tool: item, batch, reject, pairs ... */
    FLOW_MOVED,   /* a newer session: all is handed out anew, from news.at */
    FLOW_PASSED,  /* every step before news.at is trained */
    FLOW_BACK,    /* the consumer went back to news.at, or a later place that a
                   * peer named was wrong: act as after FLOW_MOVED */
    FLOW_ENDED,   /* a producer says: nothing is at or after news.at */
    FLOW_OVER,    /* the run is over */
    FLOW_UNWANTED, /* the other end refuses our item or batch of news.at */
    FLOW_REPORT /* print news.why: a message was refused, and changed nothing */
};

struct flow_news {
    enum flow_what what;
    uint64_t peer;          /* number of the peer; 0 on the connecting side */
    struct wire_place at;   /* of the news that name it above */
    struct wire_msg *msg;   /* FLOW_MESSAGE: lasts until the next call */
    struct wire_next *next; /* msg decoded, if it is a snapshot; else NULL */
    struct err why; /* FLOW_REPORT: what to print; FLOW_UNWANTED: likewise, ""
                     * where it need not be printed */
};

#endif
