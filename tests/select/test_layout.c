#include <string.h>

#include "select/layout.h"
#include "t.h"

/* Whether N samples in batches of B become so many batches of `batch`, the
 * first ones larger by one. */
static int
is(size_t size, size_t batch, enum select_remainder remainder, size_t steps,
   size_t each, size_t larger)
{
    struct select_layout layout;
    struct err err;

    return !select_layout_make(size, batch, remainder, &layout, &err) &&
           layout.size == size && layout.steps == steps &&
           layout.batch == each && layout.larger == larger;
}

static void
remainders_by_hand(void)
{
    T(is(12, 4, SELECT_KEEP, 3, 4, 0) && is(12, 4, SELECT_DROP, 3, 4, 0) &&
          is(12, 4, SELECT_WRAP, 3, 4, 0),
      "nothing left over: all three agree");
    T(is(14, 4, SELECT_KEEP, 4, 3, 2), "keep: 4 4 3 3");
    T(is(13, 4, SELECT_KEEP, 4, 3, 1), "keep: 4 3 3 3, none alone");
    T(is(60000, 128, SELECT_KEEP, 469, 127, 437), "keep: 128 .. 127");
    T(is(7, 2, SELECT_KEEP, 3, 2, 1), "keep: 3 2 2, none alone");
    T(is(3, 4, SELECT_KEEP, 1, 3, 0), "keep: fewer samples than a batch");
    T(is(14, 4, SELECT_DROP, 3, 4, 0), "drop: two are left out");
    T(is(13, 4, SELECT_WRAP, 4, 4, 0), "wrap: three come again");
}

/* G5: an epoch's batches add up to N, and lie one behind the other. */
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

                wrong += n < 2 || n > select_layout_count(&layout, 0);
                wrong += n > batch + (batch == 2);
                wrong += select_layout_start(&layout, step) != sum;
                sum += n;
            }
            wrong += sum != size || sum != select_layout_total(&layout);
        }
    T(!wrong, "keep: each sample once, 2 .. B to a batch, larger ones first");
}

static void
refuses_what_cannot_be(void)
{
    struct select_layout layout;
    struct err err;

    T(select_layout_make(1, 4, SELECT_KEEP, &layout, &err) &&
          strstr(err.msg, "1 sample:"),
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
