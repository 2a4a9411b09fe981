#ifndef FOIL_DATA_MAKING_H
#define FOIL_DATA_MAKING_H

/* A tar in the making, and what it needs at each image. */
#include "data/pack.h"
#include "image/jpeg.h"
#include "util/progress.h"

struct making {
    const char *path;
    int quality;
    struct data_pack *pack;
    struct data_bytes jpeg;
    struct progress progress;
    size_t done;
};

/* making_start() begins with a tar of about `total` images, -o given. */
void making_start(struct making *making, const char *path, long quality,
                  size_t total);

/* making_add() and making_add_jpeg() add a file, or pixels as one. */
void making_add(struct making *making, const char *name, const void *bytes,
                size_t len);
void making_add_jpeg(struct making *making, const char *name,
                     const uint8_t *pixel, size_t width, size_t height,
                     size_t channels);

/* making_finish() keeps it; making_give_up() leaves nothing and dies. */
void making_finish(struct making *making);
_Noreturn void making_give_up(struct making *making, const char *why);

#endif
