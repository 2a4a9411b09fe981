#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pack.h"
#include "util/file.h"
#include "util/mem.h"

enum { BLOCK = 512, RECORD = 20 * BLOCK };

/* POSIX.1-1988, as every tar reads it; numbers are octal text. */
struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
    char type, link[100], magic[6], version[2], user[32], group[32];
    char major[8], minor[8], prefix[155], spare[12];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header fills a block");

struct data_pack {
    struct file_draft draft;
    char *path;
    size_t bytes; // written so far
};

struct data_pack *
data_pack_open(const char *path, struct err *err)
{
    struct data_pack *pack = mem_array(1, sizeof *pack);

    if (file_draft_open(&pack->draft, path, err)) {
        free(pack);
        return NULL;
    }
    pack->path = mem_text(path);
    return pack;
}

/* Writes bytes, padded with zeros to a whole block. */
static int
put_blocks(struct data_pack *pack, const void *bytes, size_t len,
           struct err *err)
{
    static const char zero[BLOCK];
    size_t pad = (BLOCK - len % BLOCK) % BLOCK;

    if (fwrite(bytes, 1, len, pack->draft.file) != len ||
        fwrite(zero, 1, pad, pack->draft.file) != pad)
        return err_sys(err, "cannot write '%s'", pack->path);
    pack->bytes += len + pad;
    return 0;
}

int
data_pack_add(struct data_pack *pack, const char *name, const void *bytes,
              size_t len, struct err *err)
{
    struct header header = {.type = '0'};
    const unsigned char *byte = (const unsigned char *)&header;
    unsigned sum = 0;

    if (strlen(name) > sizeof header.name)
        return err_set(err, "the name '%s' is longer than %zu bytes", name,
                       sizeof header.name);
    if (len >= (size_t)1 << 33)
        return err_set(err, "'%s' is larger than a tar can hold", name);
    memcpy(header.name, name, strlen(name));
    memcpy(header.magic, "ustar", 6);
    memcpy(header.version, "00", 2);
    memcpy(header.mode, "0000644", 8);
    memcpy(header.uid, "0000000", 8);
    memcpy(header.gid, "0000000", 8);
    memcpy(header.mtime, "00000000000", 12);
    snprintf(header.size, sizeof header.size, "%011zo", len);
    memset(header.sum, ' ', sizeof header.sum); // counts as blanks
    for (size_t i = 0; i < sizeof header; i++)
        sum += byte[i];
    snprintf(header.sum, sizeof header.sum, "%06o", sum);
    if (put_blocks(pack, &header, sizeof header, err))
        return -1;
    return put_blocks(pack, bytes, len, err);
}

int
data_pack_keep(struct data_pack *pack, struct err *err)
{
    static const char zero[RECORD + 2 * BLOCK];
    size_t end = 2 * BLOCK; // the end mark; then zeros to a whole record
    int rc;

    end += (RECORD - (pack->bytes + end) % RECORD) % RECORD;
    rc = put_blocks(pack, zero, end, err);
    if (!rc)
        rc = file_draft_keep(&pack->draft, err);
    data_pack_drop(pack);
    return rc;
}

void
data_pack_drop(struct data_pack *pack)
{
    if (!pack)
        return;
    file_draft_drop(&pack->draft);
    mem_free(pack->path, pack);
}
