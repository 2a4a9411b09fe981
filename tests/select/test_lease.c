#include "select/lease.h"
#include "t.h"

/* Take an item at a time: its number, or -1 when there is none. */
static int
take(struct select_leases *leases, uint64_t holder, double now)
{
    uint64_t item;

    return select_leases_take(leases, holder, now, &item) ? (int)item : -1;
}

static void
each_item_once(void)
{
    struct select_leases leases = {0};

    select_leases_start(&leases, 5, 2, 10);
    T(take(&leases, 1, 0) == 2 && take(&leases, 2, 0) == 3 &&
          take(&leases, 1, 0) == 4,
      "items from the start on, in order");
    T(take(&leases, 1, 0) == -1, "and no more than there are");
    select_leases_done(&leases, 5, 1);
    T(leases.done == 5 && leases.n == 0, "all done");
    T(take(&leases, 1, 100) == -1, "nothing comes back");
    T(!leases.reissued, "nothing was handed out twice");
    select_leases_release(&leases);
}

static void
the_dead_leave_their_items(void)
{
    struct select_leases leases = {0};

    select_leases_start(&leases, 100, 0, 10);
    for (int i = 0; i < 6; i++)
        take(&leases, (uint64_t)i % 2, 0);
    select_leases_gone(&leases, 1);
    T(take(&leases, 2, 1) == 1 && take(&leases, 2, 1) == 3 &&
          take(&leases, 2, 1) == 5 && take(&leases, 2, 1) == 6,
      "the lowest first, then new ones");
    T(leases.reissued == 3, "counted");
    select_leases_gone(&leases, 2);
    select_leases_done(&leases, 4, 1);
    T(take(&leases, 3, 1) == 5, "what is done meanwhile does not come back");
    select_leases_release(&leases);
}

static void
the_late_lose_theirs(void)
{
    struct select_leases leases = {0};

    select_leases_start(&leases, 100, 0, 10);
    take(&leases, 1, 0);
    take(&leases, 1, 4);
    T(take(&leases, 2, 9) == 2, "in time: a new one");
    T(take(&leases, 2, 11) == 0, "late: handed out again");
    T(take(&leases, 2, 12) == 3, "and its time begins anew");

    // an item that took 30 s until it was trained stretches the patience
    select_leases_done(&leases, 1, 30);
    T(take(&leases, 2, 63) == 4, "59 s are not late where items take 30");
    T(take(&leases, 2, 65) == 1, "61 s are");
    select_leases_release(&leases);
}

static void
reports_may_come_in_any_order(void)
{
    struct select_leases leases = {0};

    select_leases_start(&leases, 100, 0, 10);
    for (int i = 0; i < 4; i++)
        take(&leases, 1, 0);
    select_leases_done(&leases, 3, 1);
    select_leases_done(&leases, 1, 2);
    T(leases.done == 3 && leases.n == 1, "an old report changes nothing");
    select_leases_done(&leases, 50, 3);
    T(take(&leases, 1, 3) == 50, "trained by another's plan: go on behind");
    select_leases_start(&leases, 100, 7, 10);
    T(take(&leases, 1, 3) == 7 && take(&leases, 1, 3) == 8,
      "a new start forgets what was handed out");
    select_leases_release(&leases);
    select_leases_release(&leases);
}

int
main(void)
{
    each_item_once();
    the_dead_leave_their_items();
    the_late_lose_theirs();
    reports_may_come_in_any_order();
    return t_done();
}
