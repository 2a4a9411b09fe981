/* A checkpoint's MANIFEST.json: refused, or what it says is in the folder. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "nn/checkpoint.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char *folder, *path;
static uint8_t *seed;
static size_t seed_len;

static void
make_seed(void)
{
    const char *run = scratch_folder();
    struct err err;
    char *begun, *file;

    begun = nn_checkpoint_begin(run, 7, &err);
    REQUIRE(begun);
    file = mem_format("%s/model", begun);
    REQUIRE(!file_write(file, "12345", 5, &err) &&
            !nn_checkpoint_commit(run, 7, &err));
    free(begun);
    free(file);
    folder = nn_checkpoint_need(run, &err);
    REQUIRE(folder && !nn_checkpoint_verify(folder, &err));
    path = mem_format("%s/MANIFEST.json", folder);
    seed = file_read(path, SEEDED_ROOM, &seed_len, &err);
    REQUIRE(seed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    struct err err = {""};

    if (!seed)
        make_seed();
    len = seeded_input(data, len, 1, (const uint8_t *const[]){seed}, &seed_len,
                       file);
    scratch_write(path, file, len);
    if (nn_checkpoint_verify(folder, &err))
        REQUIRE(*err.msg);
    return 0;
}
