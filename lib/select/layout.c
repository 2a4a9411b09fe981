#include "select/layout.h"

int
select_layout_make(size_t size, size_t batch, enum select_remainder remainder,
                   struct select_layout *layout, struct err *err)
{
    size_t whole = size / batch;
    size_t left = size % batch != 0;

    REQUIRE(batch >= 2);
    if (size < 2)
        return err_set(err, "%zu sample%s: nothing to contrast", size,
                       plural(size));
    if (!whole && remainder != SELECT_KEEP)
        return err_set(err,
                       "%zu samples do not fill a batch of %zu: take a "
                       "smaller batch, or keep the remainder",
                       size, batch);

    if (remainder != SELECT_DROP)
        whole += left;
    *layout = (struct select_layout){size, whole, batch, 0};
    if (remainder == SELECT_KEEP) { // equal sizes up to one, none of them 1
        if (layout->steps > size / 2)
            layout->steps = size / 2;
        layout->batch = size / layout->steps;
        layout->larger = size % layout->steps;
    }
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
