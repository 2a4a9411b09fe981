#include <math.h>

#include "loss/rows.h"
#include "t.h"

static void
masks_have_columns(void)
{
    const struct loss_views two = {5, 2, 2}, four = {3, 4, 4};

    T(loss_mask_count(&two, LOSS_BATCH) == 9, "all but the row itself");
    T(loss_mask_count(&two, LOSS_NEGATIVES) == 8, "all of other images");
    T(loss_mask_count(&two, LOSS_CROSS) == 5, "the other view");
    T(loss_mask_count(&two, LOSS_CROSS_NEGATIVES) == 4, "less the partner");
    T(loss_mask_count(&four, LOSS_BATCH) == 11 &&
          loss_mask_count(&four, LOSS_NEGATIVES) == 8,
      "of four views");
}

static void
views_have_positives(void)
{
    const struct loss_views all = {3, 4, 4}, first = {3, 4, 2};

    T(loss_partner(3, 1) == 4 && loss_partner(3, 4) == 1, "partners");
    T(loss_positives_count(&all, 5) == 3 && loss_positives_in(&all, 5, 3) &&
          !loss_positives_in(&all, 5, 1),
      "the other views have positives");
    T(loss_positives_count(&first, 5) == 1 &&
          loss_positives_count(&first, 7) == 2 &&
          !loss_positives_in(&first, 5, 3),
      "with two targets only these");
}

static void
logarithms_add(void)
{
    T_NEAR(loss_log_add(log(2), log(3)), log(5), 1e-15, "log(2 + 3)");
    T_NEAR(loss_log_add(-1e9, 7), 7, 0, "nothing is added");
    T(loss_log_add(-INFINITY, -INFINITY) == -INFINITY, "to nothing");
}

int
main(void)
{
    masks_have_columns();
    views_have_positives();
    logarithms_add();
    return t_done();
}
