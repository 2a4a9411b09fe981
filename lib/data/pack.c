#include <stdlib.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>

#include "data/pack.h"
#include "util/file.h"
#include "util/mem.h"

enum { NAME = 100 }; // what the name field of a header holds

struct data_pack {
    struct file_draft draft;
    struct archive *archive;
    struct archive_entry *entry;
    char *path;
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
    pack->archive = archive_write_new();
    pack->entry = archive_entry_new();
    REQUIRE(pack->archive && pack->entry);
    archive_write_set_format_ustar(pack->archive);
    archive_write_open_FILE(pack->archive, pack->draft.file);
    return pack;
}

static int
failed(struct data_pack *pack, struct err *err)
{
    return err_set(err, "cannot write '%s': %s", pack->path,
                   archive_error_string(pack->archive));
}

int
data_pack_add(struct data_pack *pack, const char *name, const void *bytes,
              size_t len, struct err *err)
{
    if (strlen(name) > NAME)
        return err_set(err, "the name '%s' is longer than %d bytes", name,
                       NAME);
    archive_entry_clear(pack->entry);
    archive_entry_set_pathname(pack->entry, name);
    archive_entry_set_filetype(pack->entry, AE_IFREG);
    archive_entry_set_perm(pack->entry, 0644);
    archive_entry_set_size(pack->entry, (la_int64_t)len);
    archive_entry_set_mtime(pack->entry, 0, 0);
    if (archive_write_header(pack->archive, pack->entry) ||
        archive_write_data(pack->archive, bytes, len) != (la_ssize_t)len)
        return failed(pack, err);
    return 0;
}

static void
release(struct data_pack *pack)
{
    archive_write_free(pack->archive);
    archive_entry_free(pack->entry);
    free(pack->path);
    free(pack);
}

int
data_pack_keep(struct data_pack *pack, struct err *err)
{
    int rc;

    if (archive_write_close(pack->archive)) {
        failed(pack, err);
        data_pack_drop(pack);
        return -1;
    }
    rc = file_draft_keep(&pack->draft, err);
    release(pack);
    return rc;
}

void
data_pack_drop(struct data_pack *pack)
{
    if (!pack)
        return;
    archive_write_fail(pack->archive); // or freeing it would write the end
    file_draft_drop(&pack->draft);
    release(pack);
}
