/* Where the rows of a run's batches are: nothing is read beyond them, and what
 * is found of a step is of that step. */
#include <string.h>
#include <unistd.h>

#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "run/batches.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { STEPS = 3 };

static const char *home;
static uint8_t *seed[2]; /* batches.jsonl, batches.i32 */
static size_t seed_len[2];
static char *path[2];

static void
make_seed(void)
{
    static const int64_t ids[] = {5, 6, 7}, variant[] = {1, 2, 3, 4, 5, 6};
    struct run_batches batches;
    struct run_batch_record record = {.batch.b = 3,
                                      .batch.v = 2,
                                      .batch.extra.n = 2,
                                      .batch.ids = ids,
                                      .batch.view_of = variant,
                                      .batch.extra.ids = ids};
    struct err err;

    home = scratch_folder();
    path[0] = mem_format("%s/batches.jsonl", home);
    path[1] = mem_format("%s/batches.i32", home);
    REQUIRE(!run_batches_open(&batches, home, 0, &err));
    while (record.total++ < STEPS)
        REQUIRE(!run_batches_put(&batches, &record, 2, "", "", &err));
    run_batches_close(&batches);
    for (size_t i = 0; i < 2; i++)
        seed[i] = file_read(path[i], SEEDED_ROOM, &seed_len[i], &err);
}

/* All that is there is used. */
static void
check_step(int64_t total)
{
    struct run_batch_record record;
    struct err err = {""};
    int64_t *memory, sum = 0;
    json_t *line;

    if (run_batches_get(home, total, &record, &line, &memory, &err)) {
        REQUIRE(*err.msg);
        return;
    }
    REQUIRE(record.total == total || !total);
    for (size_t i = 0; i < record.batch.b; i++)
        sum += record.batch.ids[i];
    for (size_t i = 0;
         record.batch.view_of && i < record.batch.v * record.batch.b; i++)
        sum += record.batch.view_of[i];
    for (size_t i = 0; i < record.batch.extra.n; i++)
        sum += record.batch.extra.ids[i] + record.batch.extra.view[i] +
               record.batch.extra.epoch[i];
    REQUIRE(sum != INT64_MIN);
    json_decref(line);
    free(memory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];

    if (!home)
        make_seed();
    len = seeded_input(data, len, 1, (const uint8_t *const[]){seed[0]},
                       seed_len, file);
    scratch_write(path[0], file, len);
    scratch_write(path[1], seed[1], seed_len[1]);
    for (int64_t total = 0; total <= STEPS + 1; total++)
        check_step(total);
    return 0;
}
