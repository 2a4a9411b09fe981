#include <string.h>

#include "select/layout.h"
#include "t.h"

/* The layout of N samples in batches of B, as "steps x batch, last". */
static int
is(size_t size, size_t batch, enum select_remainder remainder, size_t steps,
   size_t each, size_t last)
{
    struct select_layout layout;
    struct err err;

    return !select_layout_make(size, batch, remainder, &layout, &err) &&
           layout.size == size && layout.steps == steps &&
           layout.batch == each && layout.last == last;
}

static void
remainders_by_hand(void)
{
    T(is(12, 4, SELECT_KEEP, 3, 4, 4) && is(12, 4, SELECT_DROP, 3, 4, 4) &&
          is(12, 4, SELECT_WRAP, 3, 4, 4),
      "nothing left over: all three agree");
    T(is(14, 4, SELECT_KEEP, 4, 4, 2), "keep: the last batch is smaller");
    T(is(13, 4, SELECT_KEEP, 3, 4, 5), "keep: one sample joins the last batch");
    T(is(14, 4, SELECT_DROP, 3, 4, 4), "drop: it is left out");
    T(is(13, 4, SELECT_WRAP, 4, 4, 4), "wrap: it is filled up");
    T(is(3, 2, SELECT_KEEP, 1, 2, 3), "keep: three in twos are one batch");
    T(is(3, 4, SELECT_KEEP, 1, 4, 3), "keep: fewer samples than a batch");
}

/* G5: the sizes of an epoch's batches add up to N, and none is below two. */
static void
keep_loses_nothing(void)
{
    int wrong = 0;

    for (size_t size = 2; size < 60; size++)
        for (size_t batch = 2; batch < 20; batch++) {
            struct select_layout layout;
            struct err err;
            size_t sum = 0;

            wrong += select_layout_make(size, batch, SELECT_KEEP, &layout,
                                        &err) != 0;
            for (size_t step = 0; step < layout.steps; step++) {
                size_t n = select_layout_count(&layout, step);

                wrong += n < 2 || n > batch + 1;
                sum += n;
            }
            wrong += sum != size || sum != select_layout_total(&layout);
        }
    T(!wrong, "keep: each sample once, 2 .. B + 1 to a batch");
}

static void
refuses_what_cannot_be(void)
{
    struct select_layout layout;
    struct err err;

    T(select_layout_make(1, 4, SELECT_KEEP, &layout, &err) &&
          strstr(err.msg, "1 samples"),
      "a single sample");
    T(select_layout_make(3, 4, SELECT_DROP, &layout, &err) &&
          strstr(err.msg, "do not fill a batch of 4"),
      "drop: fewer than a batch");
    T(select_layout_make(3, 4, SELECT_WRAP, &layout, &err),
      "wrap: fewer than a batch");
}

int
main(void)
{
    remainders_by_hand();
    keep_loses_nothing();
    refuses_what_cannot_be();
    return t_done();
}
