#include "stage/waiting.h"

#include "t.h"

static void
test_due(void)
{
    struct stage_waiting w;

    stage_waiting_begin(&w, 100);
    T(!stage_waiting_due(&w, 1, 109.9), "a short wait is not said");
    T(stage_waiting_due(&w, 1, 110), "one of ten seconds is");
    T(!stage_waiting_due(&w, 1, 119.9), "and not again at once");
    T(stage_waiting_due(&w, 1, 120), "but ten seconds later");
    T(!stage_waiting_due(&w, 0, 125), "nobody is waited for: nothing is said");
    T(!stage_waiting_due(&w, 1, 134), "the next wait begins after that");
    T(stage_waiting_due(&w, 1, 135), "and is said ten seconds later");
}

static void
test_too_early(void)
{
    struct stage_waiting w;

    stage_waiting_begin(&w, 0);
    T(!stage_waiting_due(&w, -1, 10), "too early: nothing is said");
    T(!stage_waiting_due(&w, -1, 30), "however long it lasts");
    T(stage_waiting_due(&w, 1, 30.1), "then it is said at once");
}

static void
test_moved(void)
{
    const struct wire_place first = {7, 0, 3}, second = {7, 0, 4},
                            restarted = {8, 0, 4};
    struct stage_waiting w;

    stage_waiting_begin(&w, 0);
    T(stage_waiting_moved(&w, &first, 5), "the first place is another one");
    T(w.longest <= 0, "the time before it is no stay");
    T(!stage_waiting_moved(&w, &first, 6), "the same is not");
    T(stage_waiting_moved(&w, &second, 9), "the next step is");
    T_NEAR(w.since, 9, 0, "a stay begins");
    T_NEAR(w.longest, 4, 0, "the one before has lasted so long");
    T(stage_waiting_moved(&w, &restarted, 10), "so is one of another session");
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
