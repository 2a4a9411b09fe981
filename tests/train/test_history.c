#include <string.h>
#include <unistd.h>

#include "child.h"
#include "t.h"
#include "train/history.h"

enum { SIZE = 5, DIM = 2, KEEP = 2 };

/* Rows of two samples in an epoch: every number says whose it is. */
static void
put(struct train_history *history, int64_t epoch, int64_t a, int64_t b,
    int eval)
{
    const int64_t ids[2] = {a, b};
    float v[2 * 2 * DIM];

    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < DIM; j++)
                v[(k * 2 + i) * DIM + j] =
                    (float)(1000 * epoch + 100 * k + 10 * ids[i] + j);
    train_history_put(history, 2, ids, v, eval);
}

/* Three epochs: 0 has seen samples 0, 1; 1 also 3, 4; 2 again 0, 3. */
static void
three_epochs(struct train_history *history)
{
    train_history_init(history, SIZE, DIM, KEEP);
    put(history, 0, 0, 1, 0);
    train_history_turn(history, 0, 7);
    put(history, 1, 3, 4, 0);
    train_history_turn(history, 1, 8);
    put(history, 2, 3, 0, 1);
    train_history_turn(history, 2, 9);
}

/* Whether what is cut of an epoch is these samples, of these epochs. */
static int
is(const struct train_history *history, int64_t epoch, size_t n,
   const int64_t *want, const int64_t *of)
{
    const struct train_epoch *kept = train_history_find(history, epoch);
    int64_t ids[SIZE];
    float z[2 * SIZE * DIM];
    size_t got;
    int same =
        kept &&
        train_history_cut(history, kept, 0, SIZE, ids, z, &got) == SIZE &&
        got == n;

    for (size_t i = 0; same && i < n; i++) {
        same = ids[i] == want[i];
        for (size_t k = 0; k < 2; k++)
            for (size_t j = 0; j < DIM; j++)
                same &= z[(k * n + i) * DIM + j] ==
                        (float)(1000 * of[i] + 100 * (int)k + 10 * want[i] +
                                (int)j);
    }
    return same;
}

static void
the_last_epochs_are_kept(void)
{
    const int64_t ids[] = {0, 1, 3, 4};
    struct train_history history;

    three_epochs(&history);
    T(!train_history_find(&history, 0), "of two kept epochs the third is gone");
    T(!train_history_find(&history, 3), "one that has not ended is not there");
    T(is(&history, 1, 4, ids, (int64_t[]){0, 0, 1, 1}),
      "an epoch has the latest rows up to its end");
    T(is(&history, 2, 4, ids, (int64_t[]){2, 0, 2, 1}),
      "and the next one what came later");
    T(train_history_find(&history, 2)->about[TRAIN_EPOCH_STEPS] == 9 &&
          train_history_find(&history, 2)->about[TRAIN_EPOCH_EVAL] == 1 &&
          train_history_find(&history, 1)->about[TRAIN_EPOCH_EVAL] == 0,
      "it is known how many steps made them, and whether in a pass of its own");
    train_history_release(&history);
}

static void
a_cut_goes_on_where_the_last_one_ended(void)
{
    struct train_history history;
    const struct train_epoch *kept;
    int64_t ids[3];
    float z[2 * 3 * DIM];
    size_t n;

    three_epochs(&history);
    kept = train_history_find(&history, 2);
    T(train_history_cut(&history, kept, 0, 2, ids, z, &n) == 3 && n == 2 &&
          ids[0] == 0 && ids[1] == 1,
      "the next one is the next sample that is known");
    T(z[2 * DIM] == 2100 && z[3 * DIM] == 110, "views lie behind each other");
    T(train_history_cut(&history, kept, 3, 3, ids, z, &n) == SIZE && n == 2 &&
          ids[0] == 3 && ids[1] == 4,
      "the last one ends at the size");
    T(train_history_cut(&history, kept, SIZE, 3, ids, z, &n) == SIZE && !n,
      "behind that there is nothing");
    train_history_release(&history);
}

static void
what_is_saved_comes_back(void)
{
    const int64_t ids[] = {0, 1, 3, 4};
    struct train_history out, in;
    struct err err = {""};

    three_epochs(&out);
    train_history_init(&in, SIZE, DIM, KEEP);
    T(!train_history_load(&in, ".", &err) && !train_history_find(&in, 1),
      "without a file nothing is known");
    T(!train_history_save(&out, ".", &err) &&
          !train_history_load(&in, ".", &err),
      "saved and loaded %s", err.msg);
    T(is(&in, 1, 4, ids, (int64_t[]){0, 0, 1, 1}) &&
          is(&in, 2, 4, ids, (int64_t[]){2, 0, 2, 1}),
      "both epochs come back");
    put(&in, 3, 1, 2, 0);
    train_history_turn(&in, 3, 9);
    T(is(&in, 3, 5, (int64_t[]){0, 1, 2, 3, 4}, (int64_t[]){2, 3, 3, 2, 1}),
      "the next epoch goes on from the last");
    train_history_release(&in);
    train_history_init(&in, SIZE, DIM, 1);
    T(!train_history_load(&in, ".", &err) && !train_history_find(&in, 1) &&
          is(&in, 2, 4, ids, (int64_t[]){2, 0, 2, 1}),
      "where one epoch is kept, the newest comes back");
    train_history_release(&in);
    train_history_init(&in, SIZE, DIM + 1, KEEP);
    T(train_history_load(&in, ".", &err) && strstr(err.msg, "another"),
      "that of another encoder is refused: %s", err.msg);
    train_history_release(&in);
    train_history_release(&out);
    T(!unlink("features.safetensors"), "it is one file");
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    the_last_epochs_are_kept();
    a_cut_goes_on_where_the_last_one_ended();
    what_is_saved_comes_back();
    T(!chdir("/") && !rmdir(scratch), "nothing else was written");
    return t_done();
}
