#include "util/opt.h"

#include "tap.h"

void
tap_keys(struct tap *tap, const char *dir, const char *name)
{
    struct err err;

    if (wire_keys_make(dir, name, tap->role, &err))
        die("%s", err.msg);
}
