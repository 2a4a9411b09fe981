#include <stdlib.h>

#include "select/strategy.h"
#include "util/mem.h"

/* Batches that are searched for a place: FEW if a group has more samples than
 * there are batches.  PASSES over the epoch: one exchange may make another
 * possible. */
enum { LOOK = 256, FEW = 16, PASSES = 4 };

struct epoch {
    const struct select_layout *layout;
    int64_t *ids;
    const uint32_t *group; /* [N] numbered from 1; 0: of no group */
    size_t *here, *there;  /* [groups+1] samples of each in a batch; 0 for 0 */
    size_t *all;           /* [groups+1] and in the epoch */
};

struct numbered {
    int64_t group;
    size_t id;
};

static int
compare_groups(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return x->group < y->group ? -1 : x->group > y->group;
}

/* Numbers the groups from 1; the caller frees the result. */
static uint32_t *
number_groups(size_t n, const int64_t *group, size_t *groups)
{
    struct numbered *sorted = mem_array(n, sizeof *sorted);
    uint32_t *mine = mem_array(n, sizeof *mine);

    *groups = 0;
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct numbered){group[i], i};
    qsort(sorted, n, sizeof *sorted, compare_groups);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i].group < 0)
            continue;
        *groups += !i || sorted[i].group != sorted[i - 1].group;
        mine[sorted[i].id] = (uint32_t)*groups;
    }
    free(sorted);
    return mine;
}

/* Adds `by` to the count of the group of each sample of a batch. */
static void
tally_batch(const struct epoch *epoch, size_t step, size_t *count, size_t by)
{
    const int64_t *id = epoch->ids + select_layout_start(epoch->layout, step);
    size_t b = select_layout_count(epoch->layout, step);

    for (size_t i = 0; i < b; i++)
        if (epoch->group[id[i]])
            count[epoch->group[id[i]]] += by;
}

static int
batch_holds(const struct epoch *epoch, size_t step, int64_t id)
{
    const int64_t *in = epoch->ids + select_layout_start(epoch->layout, step);
    size_t b = select_layout_count(epoch->layout, step), i = 0;

    while (i < b && in[i] != id)
        i++;
    return i < b;
}

/* Exchanges *id of batch a, which is counted in here[], with a sample of batch
 * c, if that leaves fewer pairs. */
static int
exchange_sample(struct epoch *epoch, size_t a, int64_t *id, size_t c)
{
    int64_t *other = epoch->ids + select_layout_start(epoch->layout, c);
    int64_t *end = other + select_layout_count(epoch->layout, c);
    uint32_t g = epoch->group[*id];
    int64_t old = *id;
    int done = 0;

    tally_batch(epoch, c, epoch->there, 1);
    for (; other < end && !done; other++) {
        uint32_t h = epoch->group[*other];
        size_t before = epoch->here[g] - 1 + epoch->there[h] - (h > 0);
        size_t after = epoch->there[g] + epoch->here[h];

        if (g == h || after >= before || batch_holds(epoch, c, *id) ||
            batch_holds(epoch, a, *other))
            continue;
        tally_batch(epoch, a, epoch->here, (size_t)-1);
        tally_batch(epoch, c, epoch->there, (size_t)-1);
        *id = *other;
        *other = old;
        tally_batch(epoch, a, epoch->here, 1);
        tally_batch(epoch, c, epoch->there, 1);
        done = 1;
    }
    tally_batch(epoch, c, epoch->there, (size_t)-1);
    return done;
}

/* Returns how many samples of a batch were exchanged. */
static size_t
separate_batch(struct epoch *epoch, size_t a)
{
    const struct select_layout *layout = epoch->layout;
    int64_t *id = epoch->ids + select_layout_start(layout, a);
    size_t b = select_layout_count(layout, a), found = 0;

    tally_batch(epoch, a, epoch->here, 1);
    for (size_t i = 0; i < b; i++) {
        uint32_t g = epoch->group[id[i]];
        size_t reach = epoch->all[g] > layout->steps ? FEW : LOOK;
        int done = 0;

        if (epoch->here[g] < 2)
            continue;
        for (size_t t = 1; t <= reach && t < layout->steps && !done; t++)
            done = exchange_sample(epoch, a, id + i, (a + t) % layout->steps);
        found += (size_t)done;
    }
    tally_batch(epoch, a, epoch->here, (size_t)-1);
    return found;
}

/* Makes at most `passes` over the epoch; returns the pairs left. */
static size_t
separate_groups(const struct select_layout *layout, const int64_t *group,
                int64_t *ids, int passes)
{
    size_t groups, left = 0;
    uint32_t *numbers = number_groups(layout->size, group, &groups);
    struct epoch epoch = {.layout = layout, .ids = ids, .group = numbers};

    epoch.here = mem_array(groups + 1, sizeof *epoch.here);
    epoch.there = mem_array(groups + 1, sizeof *epoch.there);
    epoch.all = mem_array(groups + 1, sizeof *epoch.all);
    for (size_t step = 0; step < layout->steps; step++)
        tally_batch(&epoch, step, epoch.all, 1);
    for (size_t found = 1; passes && found; passes--) {
        found = 0;
        for (size_t step = 0; step < layout->steps; step++)
            found += separate_batch(&epoch, step);
    }
    for (size_t step = 0; step < layout->steps; step++) {
        const int64_t *id = ids + select_layout_start(layout, step);

        for (size_t i = 0; i < select_layout_count(layout, step); i++)
            if (numbers[id[i]])
                left += epoch.here[numbers[id[i]]]++;
        tally_batch(&epoch, step, epoch.here, (size_t)-1);
    }
    mem_free(epoch.here, epoch.there, epoch.all, numbers);
    return left;
}

size_t
select_avoid_count(const struct select_layout *layout, const int64_t *group,
                   const int64_t *ids)
{
    return separate_groups(layout, group, (int64_t *)ids,
                           0); // no passes: changes nothing
}

size_t
select_avoid(const struct select_layout *layout, const int64_t *group,
             int64_t *ids)
{
    return separate_groups(layout, group, ids, PASSES);
}
