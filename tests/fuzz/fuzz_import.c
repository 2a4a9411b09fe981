/* Older binary forms: refused, or every pixel that they promise is there. */
#include "data/import.h"
#include "fuzz/scratch.h"
#include "fuzz/seeded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const uint8_t idx[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                              0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 1, 3};

/* The first byte is the form and which of the two files is damaged. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t cifar[2 * 3073], stl[3 * 96 * 96];
    static const uint8_t *const seed[] = {idx, cifar, cifar, stl};
    static const size_t seed_len[] = {sizeof idx, sizeof cifar, 3074,
                                      sizeof stl};
    static uint8_t file[SEEDED_ROOM];
    const unsigned choice = len ? data[0] : 0;
    const enum data_form form = (enum data_form)(choice % 4);
    const int apart = form == DATA_IDX || form == DATA_STL10;
    char *path[2];
    struct data_import_settings how = {
        .form = form, .file = path, .files = apart && choice & 4 ? 2 : 1};
    struct data_import *import;
    struct data_picture picture;
    unsigned sum = 0;
    struct err err;
    size_t n;

    if (how.files == 2 && choice & 8) {
        path[0] = scratch_put(0, seed[form], seed_len[form]);
        n = seeded_input(len ? data + 1 : data, len ? len - 1 : 0, 1,
                         (const uint8_t *const[]){labels},
                         (const size_t[]){sizeof labels}, file);
        path[1] = scratch_put(1, file, n);
    } else {
        n = seeded_input(len ? data + 1 : data, len ? len - 1 : 0, 1,
                         &seed[form], &seed_len[form], file);
        path[0] = scratch_put(0, file, n);
        path[1] = scratch_put(1, labels, sizeof labels);
    }
    import = data_import_open(&how, &err);
    for (int i = 0; import && i < 4; i++) {
        if (data_import_next(import, &picture, &err) <= 0)
            break;
        for (size_t j = 0;
             j < picture.width * picture.height * picture.channels; j++)
            sum += picture.pixel[j];
    }
    data_import_close(import);
    return sum == 1;
}
