#include "foil-view/kept.h"

#include "t.h"

static const struct moment *
add_step(struct kept *kept, int64_t step)
{
    struct moment m = {.epoch = 1, .step = step, .n = 4, .views = 2};

    return kept_add(kept, &m);
}

static void
the_newest_are_kept(void)
{
    struct kept kept = {0};
    int64_t step = 0;

    T(!kept_newest(&kept) && !kept_find(&kept, 1, 0), "none at first");
    while (step < KEPT_PLACES)
        add_step(&kept, step++);
    T(kept_find(&kept, 1, 0) && !kept_find(&kept, 0, 0),
      "as many as there are places");
    add_step(&kept, step);
    T(!kept_find(&kept, 1, 0) && kept_find(&kept, 1, 1),
      "one more takes the place of the oldest");
    T(kept_newest(&kept)->step == step, "and is the newest");
    kept_release(&kept);
    T(!kept_newest(&kept), "released: none");
}

static void
what_is_held_stays(void)
{
    struct kept kept = {0};
    int64_t step = 0;

    kept_hold(&kept, add_step(&kept, step++));
    while (step < 3 * KEPT_PLACES)
        add_step(&kept, step++);
    T(kept_find(&kept, 1, 0), "one that is held, of three times as many");
    for (int i = 1; i < KEPT_HELD; i++)
        kept_hold(&kept, add_step(&kept, step++));
    kept_hold(&kept, kept_find(&kept, 1, 0));
    kept_hold(&kept, add_step(&kept, step++));
    while (step < 6 * KEPT_PLACES)
        add_step(&kept, step++);
    T(!kept_find(&kept, 1, 3 * KEPT_PLACES),
      "of one too many the one goes that was held first");
    T(kept_find(&kept, 1, 0) && kept_find(&kept, 1, 3 * KEPT_PLACES + 1),
      "the others stay, one that was held again among them");
    T(kept_newest(&kept)->step == step - 1, "the newest is there");
    kept_release(&kept);
}

int
main(void)
{
    the_newest_are_kept();
    what_is_held_stays();
    return t_done();
}
