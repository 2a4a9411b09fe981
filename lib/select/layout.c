#include "select/layout.h"

int
select_layout_make(size_t size, size_t batch, enum select_remainder remainder,
                   struct select_layout *layout, struct err *err)
{
    size_t whole = size / batch, left = size % batch;

    REQUIRE(batch >= 2);
    if (size < 2)
        return err_set(err, "%zu samples: nothing to contrast", size);
    if (!whole && remainder != SELECT_KEEP)
        return err_set(err,
                       "%zu samples do not fill a batch of %zu: take a "
                       "smaller batch, or keep the remainder",
                       size, batch);

    *layout = (struct select_layout){size, whole, batch, batch};
    if (!whole) {
        layout->steps = 1;
        layout->last = size;
    } else if (left && remainder == SELECT_WRAP) {
        layout->steps++;
    } else if (left == 1 && remainder == SELECT_KEEP) {
        layout->last++;
    } else if (left && remainder == SELECT_KEEP) {
        layout->steps++;
        layout->last = left;
    }
    return 0;
}

size_t
select_layout_total(const struct select_layout *layout)
{
    return (layout->steps - 1) * layout->batch + layout->last;
}

size_t
select_layout_count(const struct select_layout *layout, size_t step)
{
    REQUIRE(step < layout->steps);
    return step + 1 < layout->steps ? layout->batch : layout->last;
}
