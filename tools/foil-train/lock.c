#include <stdlib.h>

#include "train.h"
#include "util/lock.h"
#include "util/mem.h"

int
train_lock(const char *run, struct err *err)
{
    char *path = mem_format("%s/lock", run);
    int rc = lock_take(path, err);

    if (!rc)
        err_set(err, "another foil-train has '%s'", run);
    free(path);
    return rc > 0 ? 0 : -1;
}

int
train_check_free(const char *run, struct err *err)
{
    char *path = mem_format("%s/lock", run);
    struct lock lock;
    int rc = lock_look(path, &lock, err);

    if (!rc && lock.held)
        rc = err_set(err, "another foil-train has '%s'", run);
    free(path);
    return rc;
}
