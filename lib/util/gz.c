#include <zlib.h>

#include "util/gz.h"

gzFile
data_gz_open(const char *path, struct err *err)
{
    gzFile file = gzopen(path, "rb");

    if (!file)
        err_sys(err, "cannot open '%s'", path);
    return file;
}

void
data_gz_close(gzFile file)
{
    gzclose(file);
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

int
data_gz_seek(gzFile file, const char *path, size_t offset, struct err *err)
{
    if (gzseek(file, (z_off_t)offset, SEEK_SET) < 0)
        return err_set(err, "cannot read '%s'", path);
    return 0;
}
