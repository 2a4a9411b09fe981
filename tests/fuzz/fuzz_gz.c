/* Gzipped sets and lists of class names: refused, or every pixel and name that
 * they promise is there. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "data/import.h"
#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "util/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t *seed;
static size_t seed_len;

static void
make_seed(void)
{
    static const uint8_t record[3073 * 2] = {3};
    char *path = scratch_put(0, "", 0);
    gzFile file = gzopen(path, "wb");
    struct err err;

    REQUIRE(file && gzwrite(file, record, sizeof record) == sizeof record &&
            gzclose(file) == Z_OK);
    seed = file_read(path, SEEDED_ROOM, &seed_len, &err);
    REQUIRE(seed);
}

/* Even: the file is damaged; odd: the rest is the list of class names. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    const int list = len && data[0] & 1;
    const uint8_t *rest = len ? data + 1 : data;
    struct data_picture picture;
    struct data_import *source;
    char *path[1];
    struct data_import_settings how = {
        .form = DATA_CIFAR10, .file = path, .files = 1};
    struct err err = {""};
    size_t n, sum = 0;
    int rc = 0;

    if (!seed)
        make_seed();
    len = len ? len - 1 : 0;
    if (list)
        how.classes = scratch_put(1, rest, len);
    n = seeded_input(rest, list ? 0 : len, list ? 0 : 1,
                     (const uint8_t *const[]){seed}, &seed_len, file);
    path[0] = list ? scratch_put(0, seed, seed_len) : scratch_put(0, file, n);
    source = data_import_open(&how, &err);
    for (int i = 0; source && i < 4; i++) {
        rc = data_import_next(source, &picture, &err);
        if (rc <= 0)
            break;
        sum += picture.class ? strlen(picture.class) : 0;
        for (size_t j = 0; j < 3 * 32 * 32; j++)
            sum += picture.pixel[j];
    }
    REQUIRE((source && rc >= 0) || *err.msg);
    data_import_close(source);
    return sum == 1;
}
