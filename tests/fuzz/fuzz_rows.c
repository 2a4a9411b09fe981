/* Features on disk, with labels and what is said of them beside: refused, or
 * as many rows of finite numbers as there are. */
#include <math.h>
#include <stdlib.h>

#include "data/features.h"
#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { FILES = 4 };

static char *path[FILES];
static uint8_t *seed[FILES];
static size_t seed_len[FILES];

static void
make_seeds(void)
{
    static const char *const end[] = {".npy", ".ids.npy", ".labels.npy",
                                      ".json"};
    float x[] = {1, -2, 3, 4.5f, 5, 6};
    int64_t ids[] = {4, 7, 9}, labels[] = {0, -1, 2};
    struct data_features features = {
        .n = 3, .d = 2, .x = x, .ids = ids, .labels = labels};
    const char *home = scratch_folder();
    struct err err;

    features.about = json_parse("{\"from\": \"here\"}", 16, "about", &err);
    for (size_t i = 0; i < FILES; i++)
        path[i] = mem_format("%s/x%s", home, end[i]);
    REQUIRE(features.about && !data_features_write(path[0], &features, &err));
    json_decref(features.about);
    for (size_t i = 0; i < FILES; i++) {
        seed[i] = file_read(path[i], SEEDED_ROOM, &seed_len[i], &err);
        REQUIRE(seed[i]);
    }
}

/* The first byte is which of the files is damaged. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    const size_t which = len ? data[0] % FILES : 0;
    struct data_features features;
    struct err err = {""};
    size_t n;

    if (!seed[0])
        make_seeds();
    n = seeded_input(len ? data + 1 : data, len ? len - 1 : 0, 1,
                     (const uint8_t *const[]){seed[which]}, &seed_len[which],
                     file);
    scratch_write(path[which], file, n);
    if (data_features_read(&features, path[0], &err)) {
        REQUIRE(*err.msg);
    } else {
        for (size_t i = 0; i < features.n * features.d; i++)
            REQUIRE(fabsf(features.x[i]) <= 1e15f);
        REQUIRE(features.n && (which == 0 || features.n == 3));
        data_features_release(&features);
    }
    scratch_write(path[which], seed[which], seed_len[which]);
    return 0;
}
