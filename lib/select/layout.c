#include "select/layout.h"

/* Batches of equal size up to one: none is larger than B, unless a batch would
 * have a single sample. */
static struct select_layout
layout_equal(size_t size, size_t batch)
{
    size_t steps = size / batch + (size % batch != 0);

    if (steps > size / 2)
        steps = size / 2;
    return (struct select_layout){size, steps, size / steps, size % steps};
}

int
select_layout_make(size_t size, size_t batch, enum select_remainder remainder,
                   struct select_layout *layout, struct err *err)
{
    size_t whole = size / batch;
    int left = size % batch != 0;

    REQUIRE(batch >= 2);
    if (size < 2)
        return err_set(err, "%zu sample%s: nothing to contrast", size,
                       plural(size));
    if (!whole && remainder != SELECT_KEEP)
        return err_set(err,
                       "%zu samples do not fill a batch of %zu: take a "
                       "smaller batch, or keep the remainder",
                       size, batch);

    if (remainder == SELECT_KEEP)
        *layout = layout_equal(size, batch);
    else if (remainder == SELECT_WRAP && left)
        *layout = (struct select_layout){size, whole + 1, batch, 0};
    else
        *layout = (struct select_layout){size, whole, batch, 0};
    return 0;
}

size_t
select_layout_total(const struct select_layout *layout)
{
    return layout->steps * layout->batch + layout->larger;
}

size_t
select_layout_start(const struct select_layout *layout, size_t step)
{
    size_t before = step < layout->larger ? step : layout->larger;

    return step * layout->batch + before;
}

size_t
select_layout_count(const struct select_layout *layout, size_t step)
{
    REQUIRE(step < layout->steps);
    return layout->batch + (step < layout->larger);
}
