#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/checkpoint.h"
#include "util/file.h"
#include "util/mem.h"

#include "manifest.h"

enum { CONFIG_MOST = 1 << 24 }; // bytes of config and manifest

static const char temporary[] = ".step-"; // followed by the step and ".new"

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
compare_steps(const void *a, const void *b)
{
    const long *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

long *
nn_checkpoint_steps(const char *run, size_t *n, struct err *err)
{
    size_t all;
    char **names = nn_folder_names(run, &all, err);
    long *steps;

    if (!names)
        return NULL;
    steps = mem_array(all, sizeof *steps);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        long step = step_of(names[i]);

        if (step >= 0)
            steps[(*n)++] = step;
    }
    nn_folder_names_free(names, all);
    qsort(steps, *n, sizeof *steps, compare_steps);
    return steps;
}

/* Returns 1 if the folder has a manifest, 0 if not, -1 on error. */
static int
has_manifest(const char *folder, struct err *err)
{
    char *manifest = mem_format("%s/%s", folder, NN_MANIFEST);
    struct stat st;
    int rc = !lstat(manifest, &st);

    if (!rc && errno != ENOENT && errno != ENOTDIR)
        rc = err_sys(err, "cannot look at '%s'", manifest);
    free(manifest);
    return rc;
}

int
nn_checkpoint_find(const char *path, char **found, struct err *err)
{
    int rc = has_manifest(path, err);
    long *steps;
    size_t n;

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
    char *path = mem_format("%s/%s", checkpoint, NN_CHECKPOINT_CONFIG);
    size_t len;
    char *text = file_read(path, CONFIG_MOST, &len, err);
    json_t *config = text ? json_parse(text, len, path, err) : NULL;

    free(text);
    free(path);
    return config;
}

int
nn_checkpoint_digest(const char *folder, char hex[DIGEST_HEX], struct err *err)
{
    char *path = mem_format("%s/%s", folder, NN_MANIFEST);
    size_t len;
    char *text = file_read(path, CONFIG_MOST, &len, err);

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

    if (file_exists(path) && file_remove(path, err))
        goto fail;
    if (!file_mkdir(path, 0777, err))
        return path;
fail:
    free(path);
    return NULL;
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
    char *link = mem_format("%s/%s", run, name);
    char *next = mem_format("%s/%s%s.new", run, prefix, name);
    char *target = mem_format("step-%08ld", step);
    int rc = 0;

    unlink(next);
    if (symlink(target, next) || rename(next, link))
        rc = err_sys(err, "cannot point '%s' to '%s'", link, target);
    free(target);
    free(next);
    free(link);
    return rc;
}

int
nn_checkpoint_set_link(const char *run, const char *name, long step,
                       struct err *err)
{
    // remove_leftovers() does not remove this prefix
    return point_link(run, ".", name, step, err);
}

int
nn_checkpoint_link(const char *run, struct err *err)
{
    char *link = mem_format("%s/latest", run), is[32] = "", want[32] = "";
    size_t n;
    long *steps = nn_checkpoint_steps(run, &n, err);
    int rc = steps ? 0 : -1;

    if (n && steps) {
        ssize_t len = readlink(link, is, sizeof is - 1);

        is[len > 0 ? len : 0] = 0;
        snprintf(want, sizeof want, "step-%08ld", steps[n - 1]);
        if (strcmp(is, want))
            rc = point_link(run, temporary, "latest", steps[n - 1], err) ||
                         file_sync(run, err)
                     ? -1
                     : 0;
    }
    free(steps);
    free(link);
    return rc;
}

/* Renames the folder first: a partly removed one is no checkpoint. */
static int
remove_step(const char *run, long step, struct err *err)
{
    char *from = final_path(run, step);
    char *to = mem_format("%s/%s%08ld.old", run, temporary, step);
    int rc;

    if (rename(from, to))
        rc = err_sys(err, "cannot rename '%s'", from);
    else
        rc = file_remove(to, err);
    free(from);
    free(to);
    return rc;
}

/* Removes temporary folders of a crash or of a failed removal. */
static int
remove_leftovers(const char *run, struct err *err)
{
    size_t n;
    char **names = nn_folder_names(run, &n, err);
    int rc = 0;

    if (!names)
        return -1;
    for (size_t i = 0; i < n; i++) {
        char *path = mem_format("%s/%s", run, names[i]);

        if (!strncmp(names[i], temporary, strlen(temporary)) &&
            file_remove(path, err))
            rc = -1; // removes the others all the same
        free(path);
    }
    nn_folder_names_free(names, n);
    return rc;
}

/* Whether a symbolic link in the run directory points to the checkpoint. */
static int
is_pointed_to(const char *run, long step)
{
    struct err ignored;
    size_t n = 0;
    char **names = nn_folder_names(run, &n, &ignored), is[32], want[32];
    int found = !names; // on error assume a link

    snprintf(want, sizeof want, "step-%08ld", step);
    for (size_t i = 0; i < n && !found; i++) {
        char *path = mem_format("%s/%s", run, names[i]);
        const ssize_t len = readlink(path, is, sizeof is - 1);

        is[len > 0 ? len : 0] = 0;
        found = !strcmp(is, want);
        free(path);
    }
    if (names)
        nn_folder_names_free(names, n);
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

/*
 * Removes an incomplete checkpoint of a step: returns 0 if there is none any
 * more, 1 if there is a complete one, which is then the same as the new one.
 */
static int
remove_unless_complete(const char *run, long step, struct err *err)
{
    char *path = final_path(run, step);
    struct err ignored;
    int rc = 0;

    if (file_exists(path))
        rc = !nn_checkpoint_verify(path, &ignored)
                 ? 1
                 : remove_step(run, step, err);
    free(path);
    return rc;
}

int
nn_checkpoint_commit(const char *run, long step, struct err *err)
{
    char *from = temporary_path(run, step), *to = final_path(run, step);
    int there, rc = -1;

    if (nn_manifest_write(from, err) || file_sync(from, err) ||
        nn_checkpoint_verify(from, err))
        goto out;
    there = remove_unless_complete(run, step, err);
    if (there < 0)
        goto out;
    if (!there && rename(from, to)) {
        err_sys(err, "cannot rename '%s'", from);
        goto out;
    }
    rc = file_sync(run, err);

out:
    nn_checkpoint_abort(run, step);
    free(from);
    free(to);
    return rc;
}
