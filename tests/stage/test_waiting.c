#include "stage/stage.h"

#include "t.h"

static void
test_due(void)
{
    struct stage_waiting w;

    stage_waiting_begin(&w, 100);
    T(!stage_waiting_due(&w, 1, 109.9), "a short wait is not reported");
    T(stage_waiting_due(&w, 1, 110), "one of ten seconds is");
    T(!stage_waiting_due(&w, 1, 119.9), "a wait is not reported again at once");
    T(stage_waiting_due(&w, 1, 120),
      "a wait is reported again ten seconds later");
    T(!stage_waiting_due(&w, 0, 125), "no wait: nothing is reported");
    T(!stage_waiting_due(&w, 1, 134), "the next wait begins after that");
    T(stage_waiting_due(&w, 1, 135),
      "the next wait is reported ten seconds after it began");
}

static void
test_too_early(void)
{
    struct stage_waiting w;

    stage_waiting_begin(&w, 0);
    T(!stage_waiting_due(&w, -1, 10), "too early: nothing is reported");
    T(!stage_waiting_due(&w, -1, 30), "however long it lasts");
    T(stage_waiting_due(&w, 1, 30.1),
      "when it is no longer too early it is reported at once");
}

static void
test_moved(void)
{
    const struct wire_place first = {7, 0, 3}, second = {7, 0, 4},
                            restarted = {8, 0, 4};
    struct stage_waiting w;

    stage_waiting_begin(&w, 0);
    T(stage_waiting_moved(&w, &first, 5), "the first place is a move");
    T(w.longest <= 0, "the time before it does not count");
    T(!stage_waiting_moved(&w, &first, 6), "the same place is not");
    T(stage_waiting_moved(&w, &second, 9), "the next step is");
    T_NEAR(w.since, 9, 0, "a new time begins");
    T_NEAR(w.longest, 4, 0, "the time at the place before");
    T(stage_waiting_moved(&w, &restarted, 10), "another session is a move");
    T_NEAR(w.longest, 4, 0, "the longest counts");
}

int
main(void)
{
    test_due();
    test_too_early();
    test_moved();
    return t_done();
}
