#include <stdint.h>

#include "gz.h"

gzFile
data_gz_open(const char *path, struct err *err)
{
    gzFile file = gzopen(path, "rb");

    if (!file)
        err_sys(err, "cannot open '%s'", path);
    return file;
}

int
data_gz_take(gzFile file, const char *path, void *to, size_t n, size_t *got,
             struct err *err)
{
    int read = gzread(file, to, (unsigned)n), code;

    *got = read < 0 ? 0 : (size_t)read;
    if (read < 0)
        return err_set(err, "cannot read '%s': %s", path, gzerror(file, &code));
    return 0;
}

static size_t
big_endian(const uint8_t byte[4])
{
    return (size_t)byte[0] << 24 | (size_t)byte[1] << 16 |
           (size_t)byte[2] << 8 | byte[3];
}

int
data_gz_idx_head(gzFile file, const char *path, size_t size[4], size_t *rank,
                 struct err *err)
{
    uint8_t word[4];
    size_t got;

    if (data_gz_take(file, path, word, 4, &got, err))
        return -1;
    if (got < 4 || word[0] || word[1] || word[2] != 8 || word[3] < 1 ||
        word[3] > 4)
        return err_set(err, "'%s' is no idx file of bytes", path);
    *rank = word[3];
    for (size_t i = 0; i < *rank; i++) {
        if (data_gz_take(file, path, word, 4, &got, err))
            return -1;
        if (got < 4)
            return err_set(err, "'%s' is cut off", path);
        size[i] = big_endian(word);
    }
    return 0;
}
