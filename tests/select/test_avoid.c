#include <stdlib.h>
#include <string.h>

#include "permutation.h"
#include "select/strategy.h"
#include "t.h"

/* By definition: each pair of places of each batch. */
static size_t
count_by_hand(const struct select_layout *layout, const int64_t *group,
              const int64_t *ids)
{
    size_t pairs = 0;

    for (size_t step = 0; step < layout->steps; step++) {
        const int64_t *id = ids + select_layout_start(layout, step);

        for (size_t i = 0; i < select_layout_count(layout, step); i++)
            for (size_t j = 0; j < i; j++)
                pairs += group[id[i]] >= 0 && group[id[i]] == group[id[j]];
    }
    return pairs;
}

/* N samples in groups of so many neighbours; those of the last tenth are of no
 * group. */
static void
parts(size_t n, size_t batch, size_t members, size_t at_most)
{
    static int64_t group[10000], ids[10000], again[10000];
    struct select_task task = {.seed = 8};
    size_t before, left;
    struct err err;

    for (size_t i = 0; i < n; i++)
        group[i] = i < n - n / 10 ? (int64_t)(i / members) * 1000003 : -1;
    T(!select_layout_make(n, batch, SELECT_KEEP, &task.layout, &err), "layout");
    select_shuffle(&task, ids);
    memcpy(again, ids, sizeof ids);
    before = select_avoid_count(&task.layout, group, ids);
    T(before == count_by_hand(&task.layout, group, ids) &&
          !memcmp(ids, again, sizeof ids),
      "%zu pairs counted, nothing changed", before);
    left = select_avoid(&task.layout, group, ids);
    T(left == count_by_hand(&task.layout, group, ids) && left <= at_most,
      "%zu in batches of %zu, groups of %zu: %zu pairs of %zu are left", n,
      batch, members, left, before);
    T(is_permutation(n, ids), "still a permutation");
}

/* Under wrap a sample that comes twice does not come to meet itself. */
static void
no_sample_meets_itself(void)
{
    static const int64_t group[5] = {0, 0, 1, 1, 1};
    struct select_task task = {.seed = 0};
    int wrong = 0;
    struct err err;

    T(!select_layout_make(5, 3, SELECT_WRAP, &task.layout, &err), "layout");
    for (task.seed = 0; task.seed < 200; task.seed++) {
        int64_t ids[6];

        select_shuffle(&task, ids);
        select_avoid(&task.layout, group, ids);
        for (int i = 0; i < 6; i += 3)
            wrong += ids[i] == ids[i + 1] || ids[i] == ids[i + 2] ||
                     ids[i + 1] == ids[i + 2];
    }
    T(!wrong, "no sample twice in a batch");
}

int
main(void)
{
    parts(100, 5, 2, 0);
    parts(1000, 32, 4, 0);
    parts(10000, 128, 2, 0);
    parts(1000, 100, 10, 0); // as many in a group as there are batches
    // 10 in each of 9 groups over 4 batches: 3, 3, 2, 2 at best, 8 pairs each
    parts(100, 25, 10, 72);
    parts(20, 20, 2, 9); // one batch: nothing can be done
    no_sample_meets_itself();
    return t_done();
}
