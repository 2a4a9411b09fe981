#include "export.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "util/file.h"
#include "util/mem.h"

/* A zip that is being written. */
struct zip {
    struct archive *archive;
    const char *path;
    struct err *err;
};

static int
fail_to_write(const struct zip *zip)
{
    return err_set(zip->err, "cannot write '%s': %s", zip->path,
                   archive_error_string(zip->archive));
}

static int
add_member(struct zip *zip, const char *name, const void *bytes, size_t len)
{
    struct archive_entry *entry = archive_entry_new();
    int rc = -1;

    REQUIRE(entry);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (int64_t)len);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    if (archive_write_header(zip->archive, entry) == ARCHIVE_OK &&
        archive_write_data(zip->archive, bytes, len) == (la_ssize_t)len)
        rc = 0;
    archive_entry_free(entry);
    return rc ? fail_to_write(zip) : 0;
}

static int
add_array(struct zip *zip, const char *name, const struct data_npy *npy)
{
    char *bytes = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&bytes, &len);
    int rc;

    REQUIRE(file);
    rc = data_npy_put(file, zip->path, npy, zip->err);
    REQUIRE(!fclose(file));
    if (!rc)
        rc = add_member(zip, name, bytes, len);
    free(bytes);
    return rc;
}

static int
add_list(struct zip *zip, const char *name, size_t n, int64_t *list)
{
    return list ? add_array(zip, name,
                            &(struct data_npy){DTYPE_I8, 1, {n, 1}, list})
                : 0;
}

static int
add_texts(struct zip *zip, const struct data_features *f)
{
    size_t len = 0;
    char *classes = f->classes.n ? data_classes_text(&f->classes, &len) : NULL;
    char *about = f->about ? json_line(f->about) : NULL;
    const int rc =
        (classes && add_member(zip, "classes.txt", classes, len)) ||
        (about && add_member(zip, "about.json", about, strlen(about)));

    mem_free(classes, about);
    return rc ? -1 : 0;
}

static int
add_members(struct zip *zip, FILE *file, const struct data_features *f)
{
    const struct data_npy x = {DTYPE_F4, 2, {f->n, f->d}, f->x};

    if (archive_write_set_format_zip(zip->archive) != ARCHIVE_OK ||
        archive_write_zip_set_compression_store(zip->archive) != ARCHIVE_OK ||
        archive_write_open_FILE(zip->archive, file) != ARCHIVE_OK)
        return fail_to_write(zip);
    if (add_array(zip, "x.npy", &x) || add_list(zip, "ids.npy", f->n, f->ids) ||
        add_list(zip, "labels.npy", f->n, f->labels) ||
        add_list(zip, "same.npy", f->n, f->same) || add_texts(zip, f))
        return -1;
    return archive_write_close(zip->archive) == ARCHIVE_OK ? 0
                                                           : fail_to_write(zip);
}

int
data_npz_write(const char *path, const struct data_features *f, struct err *err)
{
    struct zip zip = {.path = path, .err = err};
    struct file_draft draft = {0};
    int rc;

    if (file_draft_open(&draft, path, err))
        return -1;
    zip.archive = archive_write_new();
    REQUIRE(zip.archive);
    rc = add_members(&zip, draft.file, f);
    archive_write_free(zip.archive);
    if (!rc)
        rc = file_draft_keep(&draft, err);
    file_draft_drop(&draft);
    return rc;
}
