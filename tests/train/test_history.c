#include <string.h>
#include <unistd.h>

#include "child.h"
#include "t.h"
#include "train/history.h"

enum { SIZE = 5, DIM = 2, KEEP = 2 };

/* Rows of two samples in an epoch; each number encodes epoch, view, sample and
 * column. */
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

/* Three epochs: 0 with samples 0, 1; 1 with 3, 4; 2 with 0, 3. */
static void
three_epochs(struct train_history *history)
{
    train_history_init(history, SIZE, DIM, KEEP);
    put(history, 0, 0, 1, 0);
    train_history_end_epoch(history, 0, 7);
    put(history, 1, 3, 4, 0);
    train_history_end_epoch(history, 1, 8);
    put(history, 2, 3, 0, 1);
    train_history_end_epoch(history, 2, 9);
}

/* Returns 1 if the rows of an epoch are of these samples from these epochs. */
static int
has_rows(const struct train_history *history, int64_t epoch, size_t n,
         const int64_t *want, const int64_t *of)
{
    const struct train_epoch *epoch_rows = train_history_find(history, epoch);
    int64_t ids[SIZE];
    float z[2 * SIZE * DIM];
    size_t got;
    int same = epoch_rows &&
               train_history_copy(history, epoch_rows, 0, SIZE, ids, z, &got) ==
                   SIZE &&
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
the_last_epochs_are_stored(void)
{
    const int64_t ids[] = {0, 1, 3, 4};
    struct train_history history;

    three_epochs(&history);
    T(!train_history_find(&history, 0),
      "with two stored epochs the third is dropped");
    T(!train_history_find(&history, 3),
      "an epoch that has not ended is not found");
    T(has_rows(&history, 1, 4, ids, (int64_t[]){0, 0, 1, 1}),
      "an epoch has the latest rows up to its end");
    T(has_rows(&history, 2, 4, ids, (int64_t[]){2, 0, 2, 1}),
      "the next epoch has the later rows");
    T(train_history_find(&history, 2)->about[TRAIN_EPOCH_STEPS] == 9 &&
          train_history_find(&history, 2)->about[TRAIN_EPOCH_EVAL] == 1 &&
          train_history_find(&history, 1)->about[TRAIN_EPOCH_EVAL] == 0,
      "steps and eval of an epoch are stored");
    train_history_release(&history);
}

static void
a_copy_continues_after_the_last(void)
{
    struct train_history history;
    const struct train_epoch *epoch_rows;
    int64_t ids[3];
    float z[2 * 3 * DIM];
    size_t n;

    three_epochs(&history);
    epoch_rows = train_history_find(&history, 2);
    T(train_history_copy(&history, epoch_rows, 0, 2, ids, z, &n) == 3 &&
          n == 2 && ids[0] == 0 && ids[1] == 1,
      "the next one is the next sample with a row");
    T(z[2 * DIM] == 2100 && z[3 * DIM] == 110,
      "one view comes after the other");
    T(train_history_copy(&history, epoch_rows, 3, 3, ids, z, &n) == SIZE &&
          n == 2 && ids[0] == 3 && ids[1] == 4,
      "the last piece ends at the size");
    T(train_history_copy(&history, epoch_rows, SIZE, 3, ids, z, &n) == SIZE &&
          !n,
      "after that there is nothing");
    train_history_release(&history);
}

static void
a_saved_history_is_restored(void)
{
    const int64_t ids[] = {0, 1, 3, 4};
    struct train_history out, in;
    struct err err = {""};

    three_epochs(&out);
    train_history_init(&in, SIZE, DIM, KEEP);
    T(!train_history_part(&in).load(&in, ".", &err) &&
          !train_history_find(&in, 1),
      "without a file there is no history");
    T(!train_history_part(&out).save(&out, ".", &err) &&
          !train_history_part(&in).load(&in, ".", &err),
      "saved and loaded %s", err.msg);
    T(has_rows(&in, 1, 4, ids, (int64_t[]){0, 0, 1, 1}) &&
          has_rows(&in, 2, 4, ids, (int64_t[]){2, 0, 2, 1}),
      "both epochs are restored");
    put(&in, 3, 1, 2, 0);
    train_history_end_epoch(&in, 3, 9);
    T(has_rows(&in, 3, 5, (int64_t[]){0, 1, 2, 3, 4},
               (int64_t[]){2, 3, 3, 2, 1}),
      "the next epoch continues from the last");
    train_history_release(&in);
    train_history_init(&in, SIZE, DIM, 1);
    T(!train_history_part(&in).load(&in, ".", &err) &&
          !train_history_find(&in, 1) &&
          has_rows(&in, 2, 4, ids, (int64_t[]){2, 0, 2, 1}),
      "with one stored epoch the newest is restored");
    train_history_release(&in);
    train_history_init(&in, SIZE, DIM + 1, KEEP);
    T(train_history_part(&in).load(&in, ".", &err) &&
          strstr(err.msg, "another"),
      "a file of another encoder is refused: %s", err.msg);
    train_history_release(&in);
    train_history_release(&out);
    T(!unlink("features.safetensors"), "there is one file");
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    the_last_epochs_are_stored();
    a_copy_continues_after_the_last();
    a_saved_history_is_restored();
    T(!chdir("/") && !rmdir(scratch), "nothing else was written");
    return t_done();
}
