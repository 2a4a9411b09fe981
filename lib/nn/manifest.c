#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/checkpoint.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/json.h"
#include "util/mem.h"

#include "manifest.h"

static const char format[] = "foil-checkpoint";

static int
compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **
nn_folder_names(const char *folder, size_t *n, struct err *err)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char **names = NULL;
    size_t room = 0;

    if (!dir) {
        err_sys(err, "cannot open '%s'", folder);
        return NULL;
    }
    *n = 0;
    mem_grow(&names, &room, 1, sizeof *names);
    for (errno = 0; (entry = readdir(dir)); errno = 0) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        mem_grow(&names, &room, *n + 1, sizeof *names);
        names[(*n)++] = mem_text(entry->d_name);
    }
    if (errno) { // the list is incomplete
        err_sys(err, "cannot read '%s'", folder);
        nn_folder_names_free(names, *n);
        names = NULL;
    }
    closedir(dir);
    if (!names)
        return NULL;
    qsort(names, *n, sizeof *names, compare_names);
    return names;
}

void
nn_folder_names_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* Size and digest of a file, for the manifest; with `written` the file is
 * synced first. */
static json_t *
describe_file(const char *path, int written, struct err *err)
{
    struct digest_stream *stream;
    char buffer[65536], hex[DIGEST_HEX];
    FILE *file = file_open(path, written ? O_NOFOLLOW : 0, err);
    struct digest digest;
    json_int_t size = 0;
    size_t got;
    int failed;

    if (!file)
        return NULL;
    if (written && fsync(fileno(file))) {
        err_sys(err, "cannot sync '%s'", path);
        fclose(file);
        return NULL;
    }
    stream = digest_new();
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0) {
        digest_add(stream, buffer, got);
        size += (json_int_t)got;
    }
    digest = digest_end(stream);
    failed = ferror(file);
    if (failed)
        err_sys(err, "cannot read '%s'", path);
    fclose(file);
    if (failed)
        return NULL;
    return json_pack("{s:I, s:s}", "size", size, "digest",
                     digest_hex(digest, hex));
}

/* The digest of the manifest without its own field. */
static json_t *
describe_self(json_t *manifest)
{
    char *line, hex[DIGEST_HEX];

    json_object_del(manifest, "self");
    line = json_line(manifest);
    digest_hex(digest_bytes(line, strlen(line)), hex);
    free(line);
    return json_string(hex);
}

/* Describes every file of the folder. */
static json_t *
describe_folder(const char *folder, int written, struct err *err)
{
    size_t n;
    char **names = nn_folder_names(folder, &n, err);
    json_t *files = json_object();
    int rc = names ? 0 : -1;

    for (size_t i = 0; i < n && !rc; i++) {
        char *path = mem_format("%s/%s", folder, names[i]);
        json_t *file;

        if (strcmp(names[i], NN_MANIFEST)) {
            file = describe_file(path, written, err);
            rc = file ? json_object_set_new(files, names[i], file) : -1;
        }
        free(path);
    }
    if (names)
        nn_folder_names_free(names, n);
    if (!rc)
        return files;
    json_decref(files);
    return NULL;
}

int
nn_manifest_write(const char *folder, struct err *err)
{
    char *path = mem_format("%s/%s", folder, NN_MANIFEST), *line;
    json_t *files = describe_folder(folder, 1, err), *manifest;
    int rc = -1;

    if (files) {
        manifest = json_pack("{s:s, s:i, s:o}", "format", format, "version", 1,
                             "files", files);
        json_object_set_new(manifest, "self", describe_self(manifest));
        line = json_line(manifest);
        rc = file_write(path, line, strlen(line), err);
        free(line);
        json_decref(manifest);
    }
    free(path);
    return rc;
}

/* Reads the manifest; it must be in canonical form, byte for byte. */
static json_t *
read_manifest(const char *folder, struct err *err)
{
    char *path = mem_format("%s/%s", folder, NN_MANIFEST), *line = NULL;
    json_t *manifest = NULL, *self = NULL, *want = NULL;
    const char *is = "";
    int64_t version;
    size_t len;
    char *text = file_read(path, 1 << 24, &len, err);

    if (!text || !(manifest = json_parse(text, len, path, err)))
        goto fail;
    line = json_line(manifest);
    self = json_incref(json_object_get(manifest, "self"));
    want = describe_self(manifest);
    if (strlen(line) != len || memcmp(line, text, len) ||
        !json_equal(self, want)) {
        err_set(err, "'%s' is damaged", path);
        goto fail;
    }
    if (json_get_text(manifest, "format", &is, err) ||
        json_get_whole(manifest, "version", 1, 1000000, &version, err))
        goto fail;
    if (strcmp(is, format) || version != 1) {
        err_set(err, "'%s' is '%s' version %jd, want '%s' 1", path, is,
                (intmax_t)version, format);
        goto fail;
    }
    goto out;

fail:
    json_decref(manifest);
    manifest = NULL;
out:
    json_decref(self);
    json_decref(want);
    free(line);
    free(text);
    free(path);
    return manifest;
}

/* Compares the files in the folder with those of the manifest. */
static int
compare_files(const char *folder, const json_t *want, json_t *got,
              struct err *err)
{
    const char *name;
    json_t *file;

    json_object_foreach((json_t *)want, name, file)
    {
        const json_t *there = json_object_get(got, name);

        if (!there)
            return err_set(err, "'%s/%s' is missing", folder, name);
        if (!json_equal(json_object_get(file, "size"),
                        json_object_get(there, "size")))
            return err_set(err, "'%s/%s' has changed in size", folder, name);
        if (!json_equal(file, there))
            return err_set(err, "'%s/%s' is damaged: its digest differs",
                           folder, name);
        json_object_del(got, name);
    }
    json_object_foreach(got, name, file) return err_set(
        err, "'%s/%s' does not belong there", folder, name);
    return 0;
}

int
nn_checkpoint_verify(const char *folder, struct err *err)
{
    json_t *manifest = read_manifest(folder, err), *got;
    int rc = -1;

    if (!manifest)
        return -1;
    got = describe_folder(folder, 0, err);
    if (got)
        rc =
            compare_files(folder, json_object_get(manifest, "files"), got, err);
    json_decref(got);
    json_decref(manifest);
    return rc;
}
