#ifndef FOIL_VIEW_BESIDE_H
#define FOIL_VIEW_BESIDE_H

#include "history.h"
#include "hub.h"

/* Other runs, whose curves are shown beside those of the page's run.  They are
 * known by their folders alone. */
enum { BESIDE_MOST = 7 };

struct beside {
    size_t n;
    struct beside_run {
        const char *run; /* lent */
        struct history history;
    } run[BESIDE_MOST];
};

/* beside_open() reads what is there of n <= BESIDE_MOST runs. */
void beside_open(struct beside *beside, const char *const *run, size_t n);

/* beside_read() takes in what is new, and tells pages of the last step of each
 * run that has any.  It returns 1 where steps of one are not there any more. */
int beside_read(struct beside *beside, struct hub *hub);

/* beside_show() returns [{run, living, metrics}], as history_show()
 * shows them. */
json_t *beside_show(const struct beside *beside, size_t most);
void beside_release(struct beside *beside);

#endif
