#pragma once

/* Small JPEGs, and sets of them, in a temporary folder. */
#include <stdlib.h>
#include <string.h>

#include "data/index.h"
#include "data/pack.h"
#include "data/set.h"
#include "folder.h"
#include "image/codec.h"
#include "util/mem.h"

/* Makes an 8 x 8 JPEG of one grey level, which identifies the file. */
static inline struct data_bytes
tiny_jpeg(int level)
{
    struct data_bytes bytes = {0};
    uint8_t pixel[64];

    memset(pixel, level, sizeof pixel);
    REQUIRE(!image_jpeg_encode(pixel, 8, 8, 1, 90, &bytes, &err));
    return bytes;
}

/* Writes a JPEG of that level. */
static inline void
put_jpeg(const char *path, int level)
{
    struct data_bytes bytes = tiny_jpeg(level);

    REQUIRE(!file_write(path, bytes.data, bytes.len, &err));
    data_bytes_release(&bytes);
}

/* Writes a tar of the named files, up to NULL: JPEGs of level 1, 2, 3, ...;
 * another name is followed by the text of its file. */
static inline void
put_tar(const char *path, const char *const *name)
{
    struct data_pack *pack = data_pack_open(path, &err);
    int level = 0;

    REQUIRE(pack);
    for (; *name; name++) {
        struct data_bytes bytes = {0};

        if (strstr(*name, ".jp") || strstr(*name, ".JP")) {
            bytes = tiny_jpeg(++level);
            REQUIRE(!data_pack_add(pack, *name, bytes.data, bytes.len, &err));
            data_bytes_release(&bytes);
        } else {
            REQUIRE(
                !data_pack_add(pack, name[0], name[1], strlen(name[1]), &err));
            name++;
        }
    }
    REQUIRE(!data_pack_keep(pack, &err));
}

/* Indexes the inputs, up to NULL, to `out`; returns how many files were
 * skipped, or -1. */
static inline int
make_index(const char *const *place, const char *out, int skip_bad)
{
    struct data_index_settings how = {
        .skip_bad = skip_bad, .decode = 1, .max_pixels = IMAGE_MAX_PIXELS};
    struct data_index *index = data_index_new(&how);
    int rc = 0;

    for (; !rc && *place; place++) {
        rc = data_index_add(index, *place, &err);
        while (!rc && (rc = data_index_next(index, &err)) > 0)
            rc = 0;
    }
    if (!rc)
        rc = data_index_write(index, out, &err);
    if (!rc)
        rc = (int)data_index_report(index).bad;
    data_index_free(index);
    return rc;
}

/* Indexes one input and opens it; NULL with err. */
static inline struct data_set *
open_indexed(const char *place)
{
    const char *const places[] = {place, NULL};

    return make_index(places, "index.foil", 0) ? NULL
                                               : data_open("index.foil", &err);
}

/* Returns the level of a sample's file, or -1. */
static inline int
level_of(struct data_set *set, size_t id)
{
    struct data_bytes bytes = {0};
    int level = -1;

    if (data_read(set, id, &bytes, &err))
        return -1;
    for (int i = 0; level < 0 && i < 256; i++) {
        struct data_bytes want = tiny_jpeg(i);

        if (want.len == bytes.len && !memcmp(want.data, bytes.data, want.len))
            level = i;
        data_bytes_release(&want);
    }
    data_bytes_release(&bytes);
    return level;
}
