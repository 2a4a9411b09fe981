#include <math.h>

#include "eval/knn.h"
#include "t.h"

static void
neighbours_choose(void)
{
    const uint32_t ids[] = {2, 0, 1, 3};
    const int64_t labels[] = {4, 4, 1, 1};
    const double score[] = {0.9, 0.3, 0.2, 0.1};
    double room[5];

    T(eval_vote(1, ids, score, labels, 5, 0, room) == 1, "the nearest");
    T(eval_vote(2, ids, score, labels, 5, 0, room) == 1,
      "a tie: the smallest label");
    T(eval_vote(3, ids, score, labels, 5, 0, room) == 4, "a majority");
    T(eval_vote(3, ids, score, labels, 5, 0.07, room) == 1,
      "exp(.9/.07) outweighs exp(.3/.07) + exp(.2/.07)");
    T(eval_vote(3, ids, score, labels, 5, 10, room) == 4,
      "a high temperature is a majority");
}

int
main(void)
{
    neighbours_choose();
    return t_done();
}
