#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manifest.h"
#include "nn/checkpoint.h"
#include "util/file.h"
#include "util/mem.h"

static const char temporary[] = ".step-"; // and the step, and ".new"

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

/* The step that a name stands for, or -1. */
static long
step_of(const char *name)
{
    char *end, again[64];
    long step;

    if (strncmp(name, "step-", 5))
        return -1;
    step = strtol(name + 5, &end, 10);
    snprintf(again, sizeof again, "step-%08ld", step);
    return !*end && step >= 0 && !strcmp(again, name) ? step : -1;
}

int
nn_checkpoint_sweep(const char *run, struct err *err)
{
    size_t n;
    char **names = nn_folder_names(run, &n, err);
    int rc = 0;

    if (!names)
        return -1;
    for (size_t i = 0; i < n && !rc; i++) {
        char *path = mem_format("%s/%s", run, names[i]);

        if (!strncmp(names[i], temporary, strlen(temporary)))
            rc = file_remove(path, err);
        free(path);
    }
    nn_folder_names_free(names, n);
    return rc;
}

static int
by_step(const void *a, const void *b)
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
    qsort(steps, *n, sizeof *steps, by_step);
    return steps;
}

char *
nn_checkpoint_find(const char *path, struct err *err)
{
    char *manifest = mem_format("%s/%s", path, NN_MANIFEST), *found = NULL;
    long *steps;
    size_t n;

    if (file_exists(manifest)) {
        found = mem_text(path);
    } else if ((steps = nn_checkpoint_steps(path, &n, err))) {
        if (n)
            found = final_path(path, steps[n - 1]);
        else
            err_set(err, "no checkpoint in '%s'", path);
        free(steps);
    }
    free(manifest);
    return found;
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

/* Points `latest` to the checkpoint of a step. */
static int
link_latest(const char *run, long step, struct err *err)
{
    char *link = mem_format("%s/latest", run);
    char *next = mem_format("%s/%slatest.new", run, temporary);
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

static int
remove_old(const char *run, long keep, struct err *err)
{
    size_t n;
    long *steps = nn_checkpoint_steps(run, &n, err);
    int rc = 0;

    if (!steps)
        return -1;
    for (size_t i = 0; i + (size_t)keep < n && !rc; i++) {
        // first to a name that is no checkpoint's: it goes as a whole
        char *from = final_path(run, steps[i]);
        char *to = mem_format("%s/%s%08ld.old", run, temporary, steps[i]);

        if (rename(from, to))
            rc = err_sys(err, "cannot rename '%s'", from);
        else
            rc = file_remove(to, err);
        free(from);
        free(to);
    }
    free(steps);
    return rc;
}

/*
 * Makes way for a checkpoint of a step that has one: 1 when that one is whole
 * and so, the run being what it is, the same; 0 when there is none any more.
 */
static int
make_way(const char *path, struct err *err)
{
    struct err ignored;

    if (!file_exists(path))
        return 0;
    if (!nn_checkpoint_verify(path, &ignored))
        return 1;
    return file_remove(path, err);
}

int
nn_checkpoint_commit(const char *run, long step, long keep, struct err *err)
{
    char *from = temporary_path(run, step), *to = final_path(run, step);
    int there, rc = -1;

    REQUIRE(keep >= 2);
    if (nn_manifest_write(from, err) || file_sync(from, err) ||
        nn_checkpoint_verify(from, err))
        goto out;
    there = make_way(to, err);
    if (there < 0)
        goto out;
    if (!there && rename(from, to)) {
        err_sys(err, "cannot rename '%s'", from);
        goto out;
    }
    if (file_sync(run, err) || link_latest(run, step, err) ||
        file_sync(run, err) || remove_old(run, keep, err))
        goto out;
    rc = 0;

out:
    nn_checkpoint_abort(run, step);
    free(from);
    free(to);
    return rc;
}
