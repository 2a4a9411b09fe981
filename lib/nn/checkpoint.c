#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/checkpoint.h"
#include "util/file.h"
#include "util/mem.h"

#define MANIFEST "MANIFEST.json"
enum { CONFIG_MOST = 1 << 24 }; // bytes of config and manifest

static const char format[] = "foil-checkpoint";
static const char temporary[] = ".step-"; // followed by the step and ".new"

/* ---- folders ------------------------------------------------------------- */

static int
compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Lists the names in a folder that a filter accepts, sorted; -1 on error. */
static int
list_folder(const char *folder, int (*filter)(const struct dirent *entry),
            struct dirent ***names, struct err *err)
{
    const int n = scandir(folder, names, filter, compare_names);

    return n < 0 ? err_sys(err, "cannot read '%s'", folder) : n;
}

static void
free_list(struct dirent **names, int n)
{
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

static char *
read_file(const char *checkpoint, const char *name, char **path, size_t *len,
          struct err *err)
{
    *path = mem_format("%s/%s", checkpoint, name);
    return file_read(*path, CONFIG_MOST, len, err);
}

/* ---- the manifest -------------------------------------------------------- */

static int
is_listed(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
           strcmp(entry->d_name, MANIFEST);
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

static json_t *
describe_folder(const char *folder, int written, struct err *err)
{
    struct dirent **names = NULL;
    const int n = list_folder(folder, is_listed, &names, err);
    json_t *files = json_object();
    int rc = n < 0 ? -1 : 0;

    for (int i = 0; i < n && !rc; i++) {
        char *path = mem_format("%s/%s", folder, names[i]->d_name);
        json_t *file = describe_file(path, written, err);

        rc = file ? json_object_set_new(files, names[i]->d_name, file) : -1;
        free(path);
    }
    free_list(names, n);
    if (!rc)
        return files;
    json_decref(files);
    return NULL;
}

/* Syncs every file of a folder, then writes the manifest. */
static int
write_manifest(const char *folder, struct err *err)
{
    json_t *files = describe_folder(folder, 1, err), *manifest;
    char *line;
    int rc = -1;

    if (files) {
        manifest = json_pack("{s:s, s:i, s:o}", "format", format, "version", 1,
                             "files", files);
        json_object_set_new(manifest, "self", describe_self(manifest));
        line = json_line(manifest);
        rc = file_write(mem_temp("%s/%s", folder, MANIFEST), line, strlen(line),
                        err);
        free(line);
        json_decref(manifest);
    }
    return rc;
}

/* Reads the manifest; it must be in canonical form, byte for byte. */
static json_t *
read_manifest(const char *folder, struct err *err)
{
    json_t *manifest = NULL, *self = NULL, *want = NULL;
    const char *is = "";
    int64_t version;
    size_t len;
    char *path, *line = NULL,
                *text = read_file(folder, MANIFEST, &path, &len, err);

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
    mem_free(line, text, path);
    return manifest;
}

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

/* ---- checkpoints --------------------------------------------------------- */

static char *
temporary_path(const char *run, long step)
{
    return mem_format("%s/%s%08ld.new", run, temporary, step);
}

static char *
final_path(const char *run, long step)
{
    return mem_format("%s/step-%08ld", run, step);
}

/* The step of a checkpoint's name; -1 for any other name. */
static long
step_of(const char *name)
{
    char *end, want[64];
    long step;

    if (strncmp(name, "step-", 5))
        return -1;
    step = strtol(name + 5, &end, 10);
    snprintf(want, sizeof want, "step-%08ld", step);
    return !*end && step >= 0 && !strcmp(want, name) ? step : -1;
}

static int
is_step(const struct dirent *entry)
{
    return step_of(entry->d_name) >= 0;
}

static int
compare_steps(const void *a, const void *b)
{
    const long *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

long *
nn_checkpoint_steps(const char *run, size_t *n, struct err *err)
{
    struct dirent **names;
    const int found = list_folder(run, is_step, &names, err);
    long *steps;

    if (found < 0)
        return NULL;
    *n = (size_t)found;
    steps = mem_array(*n, sizeof *steps);
    for (int i = 0; i < found; i++)
        steps[i] = step_of(names[i]->d_name);
    free_list(names, found);
    qsort(steps, *n, sizeof *steps, compare_steps);
    return steps;
}

int
nn_checkpoint_find(const char *path, char **found, struct err *err)
{
    const char *manifest = mem_temp("%s/%s", path, MANIFEST);
    struct stat st;
    int rc = !lstat(manifest, &st);
    long *steps;
    size_t n;

    if (!rc && errno != ENOENT && errno != ENOTDIR)
        rc = err_sys(err, "cannot look at '%s'", manifest);
    *found = NULL;
    if (rc) {
        *found = rc > 0 ? mem_text(path) : NULL;
        return rc;
    }
    steps = nn_checkpoint_steps(path, &n, err);
    if (!steps)
        return -1;
    if (n)
        *found = final_path(path, steps[n - 1]);
    free(steps);
    return n > 0;
}

char *
nn_checkpoint_need(const char *path, struct err *err)
{
    char *found;

    if (!nn_checkpoint_find(path, &found, err))
        err_set(err,
                "no checkpoint in '%s': want a run that has one, such as "
                "run/x, or a folder step- of it",
                path);
    return found;
}

json_t *
nn_checkpoint_config(const char *checkpoint, struct err *err)
{
    size_t len;
    char *path,
        *text = read_file(checkpoint, NN_CHECKPOINT_CONFIG, &path, &len, err);
    json_t *config = text ? json_parse(text, len, path, err) : NULL;

    mem_free(text, path);
    return config;
}

int
nn_checkpoint_digest(const char *folder, char hex[DIGEST_HEX], struct err *err)
{
    size_t len;
    char *path, *text = read_file(folder, MANIFEST, &path, &len, err);

    free(path);
    if (!text)
        return -1;
    digest_hex(digest_bytes(text, len), hex);
    free(text);
    return 0;
}

char *
nn_checkpoint_begin(const char *run, long step, struct err *err)
{
    char *path = temporary_path(run, step);

    if ((file_exists(path) && file_remove(path, err)) ||
        file_mkdir(path, 0777, err)) {
        free(path);
        return NULL;
    }
    return path;
}

void
nn_checkpoint_abort(const char *run, long step)
{
    char *path = temporary_path(run, step);
    struct err ignored;

    if (file_exists(path))
        file_remove(path, &ignored);
    free(path);
}

/* Points a link to the checkpoint of a step: makes a link with a temporary
 * name, which starts with `prefix`, and renames it. */
static int
point_link(const char *run, const char *prefix, const char *name, long step,
           struct err *err)
{
    const char *link = mem_temp("%s/%s", run, name);
    const char *next = mem_temp("%s/%s%s.new", run, prefix, name);
    const char *target = mem_temp("step-%08ld", step);
    int rc = 0;

    unlink(next);
    if (symlink(target, next) || rename(next, link))
        rc = err_sys(err, "cannot point '%s' to '%s'", link, target);
    return rc;
}

int
nn_checkpoint_set_link(const char *run, const char *name, long step,
                       struct err *err)
{
    // remove_leftovers() does not remove this prefix
    return point_link(run, ".", name, step, err);
}

/* Whether `name` in the run directory is a link to the checkpoint of a step. */
static int
is_link_to(const char *run, const char *name, long step)
{
    char is[32];
    const ssize_t len =
        readlink(mem_temp("%s/%s", run, name), is, sizeof is - 1);

    is[len > 0 ? len : 0] = 0;
    return step_of(is) == step;
}

int
nn_checkpoint_link(const char *run, struct err *err)
{
    size_t n;
    long *steps = nn_checkpoint_steps(run, &n, err);
    int rc = steps ? 0 : -1;

    if (steps && n && !is_link_to(run, "latest", steps[n - 1]) &&
        (point_link(run, temporary, "latest", steps[n - 1], err) ||
         file_sync(run, err)))
        rc = -1;
    free(steps);
    return rc;
}

/* Renames the folder first: a partly removed one is no checkpoint. */
static int
remove_step(const char *run, long step, struct err *err)
{
    char *from = final_path(run, step);
    const char *to = mem_temp("%s/%s%08ld.old", run, temporary, step);
    int rc;

    if (rename(from, to))
        rc = err_sys(err, "cannot rename '%s'", from);
    else
        rc = file_remove(to, err);
    free(from);
    return rc;
}

static int
is_temporary(const struct dirent *entry)
{
    return !strncmp(entry->d_name, temporary, strlen(temporary));
}

/* Removes temporary folders of a crash or of a failed removal. */
static int
remove_leftovers(const char *run, struct err *err)
{
    struct dirent **names = NULL;
    const int n = list_folder(run, is_temporary, &names, err);
    int rc = n < 0 ? -1 : 0;

    for (int i = 0; i < n; i++)
        if (file_remove(mem_temp("%s/%s", run, names[i]->d_name), err))
            rc = -1; // removes the others all the same
    free_list(names, n);
    return rc;
}

/* Whether a symbolic link in the run directory points to the checkpoint. */
static int
is_pointed_to(const char *run, long step)
{
    struct err ignored;
    struct dirent **names = NULL;
    const int n = list_folder(run, NULL, &names, &ignored);
    int found = n < 0; // on error assume a link

    for (int i = 0; i < n && !found; i++)
        found = is_link_to(run, names[i]->d_name, step);
    free_list(names, n);
    return found;
}

int
nn_checkpoint_tidy(const char *run, long keep, struct err *err)
{
    int rc = remove_leftovers(run, err);
    size_t n;
    long *steps = nn_checkpoint_steps(run, &n, err);

    REQUIRE(keep >= 2);
    if (!steps)
        return -1;
    for (size_t i = 0; i + (size_t)keep < n; i++)
        if (!is_pointed_to(run, steps[i]) && remove_step(run, steps[i], err))
            rc = -1;
    free(steps);
    return rc;
}

int
nn_checkpoint_commit(const char *run, long step, struct err *err)
{
    char *from = temporary_path(run, step), *to = final_path(run, step);
    struct err ignored;
    int there = 0, rc = -1;

    if (write_manifest(from, err) || file_sync(from, err) ||
        nn_checkpoint_verify(from, err))
        goto out;
    if (file_exists(to)) // complete, the same as the new one; or incomplete
        there = nn_checkpoint_verify(to, &ignored) ? remove_step(run, step, err)
                                                   : 1;
    if (there < 0)
        goto out;
    if (!there && rename(from, to)) {
        err_sys(err, "cannot rename '%s'", from);
        goto out;
    }
    rc = file_sync(run, err);

out:
    nn_checkpoint_abort(run, step);
    mem_free(from, to);
    return rc;
}
