#ifndef FOIL_EVAL_CONFUSION_H
#define FOIL_EVAL_CONFUSION_H

#include "eval.h"

/*
 * How often each class was taken for each: count [classes,classes], a row for
 * the class that a query has, a column for the one that it was given.
 */
struct confusion {
    size_t classes;
    size_t *count;
};

/* confusion_init() refuses more than CONFUSION_MOST classes. */
enum { CONFUSION_MOST = 1000 };
void confusion_init(struct confusion *confusion, size_t classes);
void confusion_release(struct confusion *confusion);

/* confusion_vote() adds m queries, by the plain votes of their first k
 * neighbours; as eval_vote_count(). */
void confusion_vote(struct confusion *confusion, size_t m, size_t most,
                    const uint32_t *ids, const int64_t *want,
                    const int64_t *labels, size_t k);

/* confusion_show() returns {class: share of its queries that are right}, of the
 * classes that have some; confusion_plot() draws it, shares of each row.
 *   names  of the classes, n = 0: they are numbers */
json_t *confusion_show(const struct confusion *confusion,
                       const struct data_classes *names);
void confusion_plot(const struct confusion *confusion,
                    const struct data_classes *names, const char *picture);

#endif
