#ifndef FOIL_VIEW_COMPARE_H
#define FOIL_VIEW_COMPARE_H

#include "history.h"
#include "hub.h"

/* Other runs, whose curves are shown beside those of the page's run.  Only
 * their folders are read. */
enum { COMPARE_MOST = 7 };

struct compare {
    size_t n;
    struct compare_run {
        const char *run; /* lent */
        struct history history;
    } run[COMPARE_MOST];
};

/* compare_open() reads what is there of n <= COMPARE_MOST runs. */
void compare_open(struct compare *compare, const char *const *run, size_t n);

/* compare_read() reads what is new and publishes the last step of each run that
 * has a new one.  It returns 1 where steps of one are not there any more. */
int compare_read(struct compare *compare, struct hub *hub);

/* compare_show() returns [{run, living, metrics}], as history_show()
 * shows them. */
json_t *compare_show(const struct compare *compare, size_t most);
void compare_release(struct compare *compare);

#endif
