#include <stdlib.h>
#include <string.h>

#include "select/strategy.h"
#include "t.h"
#include "util/mem.h"

static const char *const names[] = {"shuffle", "replace"};
enum { NAMES = sizeof names / sizeof *names };

/* The ids of an epoch, to be given to free(). */
static int64_t *
epoch_of(const char *name, const struct select_task *task)
{
    size_t total = select_layout_total(&task->layout);
    int64_t *ids = mem_array(total, sizeof *ids);
    struct err err;

    select_strategy_find(name, &err)->order(task, ids);
    return ids;
}

/* 1 when each batch holds different samples that exist. */
static int
is_legal(const struct select_layout *layout, const int64_t *ids)
{
    int legal = 1;

    for (size_t step = 0; step < layout->steps; step++) {
        size_t n = select_layout_count(layout, step);
        const int64_t *id = ids + select_layout_start(layout, step);

        for (size_t i = 0; i < n; i++) {
            legal &= id[i] >= 0 && (size_t)id[i] < layout->size;
            for (size_t j = 0; j < i; j++)
                legal &= id[i] != id[j];
        }
    }
    return legal;
}

/* What every strategy promises, over shapes and remainders. */
static void
promises(const char *name)
{
    static const size_t size[] = {2, 3, 8, 9, 31, 100};
    int legal = 1, same = 1, differ = 0;

    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        for (int r = SELECT_KEEP; r <= SELECT_WRAP; r++)
            for (size_t batch = 2; batch <= size[i]; batch += 3) {
                struct select_task task = {.seed = 5, .epoch = 3};
                struct err err;
                int64_t *a, *b, *c;
                size_t bytes;

                select_layout_make(size[i], batch, (enum select_remainder)r,
                                   &task.layout, &err);
                bytes = select_layout_total(&task.layout) * sizeof *a;
                a = epoch_of(name, &task);
                b = epoch_of(name, &task);
                task.epoch++;
                c = epoch_of(name, &task);
                legal &= is_legal(&task.layout, a);
                same &= !memcmp(a, b, bytes);
                differ += memcmp(a, c, bytes) != 0;
                free(a);
                free(b);
                free(c);
            }
    T(legal, "%s: ids exist, none twice in a batch", name);
    T(same, "%s: the same epoch is the same order", name);
    T(differ > 50, "%s: another epoch is another order", name);
}

int
main(void)
{
    struct err err;

    for (int i = 0; i < NAMES; i++)
        promises(names[i]);
    T(!select_strategy_find("psychic", &err) &&
          strstr(err.msg, "no strategy 'psychic': there are shuffle replace"),
      "an unknown name is refused with the list: %s", err.msg);
    return t_done();
}
