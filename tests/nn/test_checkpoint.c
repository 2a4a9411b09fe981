#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "nn/checkpoint.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

static char folder[256];

/* A new run directory for a check. */
static char *
new_run(const char *name)
{
    char *run = mem_format("%s/%s", folder, name);
    struct err err;

    if (file_mkdir(run, 0700, &err))
        abort();
    return run;
}

/* Writes a file of `len` times the step's last digit. */
static int
put_file(const char *in, const char *name, long step, size_t len,
         struct err *err)
{
    char *path = mem_format("%s/%s", in, name), *data = mem_array(len, 1);
    int rc;

    memset(data, '0' + (int)(step % 10), len);
    rc = file_write(path, data, len, err);
    free(data);
    free(path);
    return rc;
}

static int
save(const char *run, long step, long keep, size_t len, struct err *err)
{
    char *path = nn_checkpoint_begin(run, step, err);
    int rc = -1;

    if (!path)
        return -1;
    if (put_file(path, "model.safetensors", step, len, err) ||
        put_file(path, "config.json", step, 40, err))
        nn_checkpoint_abort(run, step);
    else
        rc = nn_checkpoint_commit(run, step, err) ||
             nn_checkpoint_link(run, err) || nn_checkpoint_tidy(run, keep, err);
    free(path);
    return rc;
}

/* The names in a run, joined. */
static char *
look(const char *run)
{
    char *command = mem_format("cd %s && ls -A | tr '\\n' ' '", run);
    char *text = mem_array(1024, 1);
    FILE *pipe = popen(command, "r");

    if (!pipe || !fgets(text, 1024, pipe))
        text[0] = 0;
    if (pipe)
        pclose(pipe);
    free(command);
    return text;
}

static void
looks_like(const char *run, const char *want, const char *what)
{
    char *got = look(run);

    T(!strcmp(got, want), "%s: %s", what, got);
    free(got);
}

static void
a_run_of_checkpoints(void)
{
    char *run = new_run("run"), *path, *inside;
    struct err err;

    T(!nn_checkpoint_find(run, &path, &err) && !path, "none at first");
    T(!nn_checkpoint_need(run, &err) && strstr(err.msg, "no checkpoint"),
      "without a checkpoint the error says so: %s", err.msg);
    T(!nn_checkpoint_link(run, &err) && !nn_checkpoint_tidy(run, 2, &err),
      "without a checkpoint nothing is to be repaired");
    T(!save(run, 5, 2, 100, &err), "first");
    T(!save(run, 12, 2, 100, &err), "second");
    looks_like(run, "latest step-00000005 step-00000012 ", "two are kept");
    T(!save(run, 100, 2, 100, &err), "third");
    looks_like(run, "latest step-00000012 step-00000100 ",
               "the oldest is removed");
    path = nn_checkpoint_need(run, &err);
    T(path && strstr(path, "/step-00000100"), "the newest is found");
    T(!nn_checkpoint_verify(path, &err), "the newest verifies");
    free(path);
    inside = mem_format("%s/latest", run);
    path = nn_checkpoint_need(inside, &err);
    T(path && !strcmp(path, inside), "a checkpoint is found by its path");
    T(!nn_checkpoint_verify(path, &err), "through the symlink");
    free(path);
    free(inside);
    T(!save(run, 100, 2, 100, &err), "the same step again is no error");
    looks_like(run, "latest step-00000012 step-00000100 ",
               "the same step again changes nothing");
    free(run);
}

static void
linked_checkpoints_stay(void)
{
    char *run = new_run("pointed");
    struct err err;

    for (long step = 1; step <= 3; step++)
        T(!save(run, step, 9, 10, &err), "step %ld", step);
    T(!nn_checkpoint_set_link(run, "best", 3, &err) &&
          !nn_checkpoint_set_link(run, "best", 1, &err),
      "a link can be moved");
    T(!save(run, 4, 2, 10, &err), "another step");
    looks_like(run, "best latest step-00000001 step-00000003 step-00000004 ",
               "the two newest remain, and the best");
    T(!nn_checkpoint_set_link(run, "best", 4, &err) &&
          !nn_checkpoint_tidy(run, 2, &err),
      "another is the best");
    looks_like(run, "best latest step-00000003 step-00000004 ",
               "the previous one is removed");
    T(nn_checkpoint_set_link("/none", "best", 4, &err) == -1 &&
          strstr(err.msg, "/none/best"),
      "a link that cannot be made is reported: %s", err.msg);
    free(run);
}

static void
partial_ones_are_removed(void)
{
    char *run = new_run("sweep"), *path;
    struct err err;

    T(!save(run, 1, 2, 10, &err), "one is complete");
    path = nn_checkpoint_begin(run, 2, &err);
    T(path && !put_file(path, "model.safetensors", 2, 10, &err),
      "one is partial");
    free(path);
    path = nn_checkpoint_need(run, &err);
    T(path && strstr(path, "step-00000001"), "readers ignore it");
    free(path);
    T(!nn_checkpoint_tidy(run, 2, &err), "tidies up");
    looks_like(run, "latest step-00000001 ", "it is removed");
    free(run);
}

/* The state after a kill between two steps of a commit is repaired. */
static void
an_interrupted_commit_is_completed(void)
{
    char *run = new_run("cut"), *latest = mem_format("%s/latest", run);
    char *old = mem_format("%s/.step-00000001.old", run), *path;
    char is[32] = "";
    struct err err;

    for (long step = 1; step <= 3; step++)
        T(!save(run, step, 9, 10, &err), "step %ld", step);
    T(!unlink(latest) && !symlink("step-00000002", latest),
      "latest is out of date");
    T(!nn_checkpoint_link(run, &err) &&
          readlink(latest, is, sizeof is - 1) == 13 &&
          !strcmp(is, "step-00000003"),
      "it is moved: %s", is);
    path = mem_format("%s/step-00000001", run);
    T(!rename(path, old), "a removal was cut off");
    looks_like(run, ".step-00000001.old latest step-00000002 step-00000003 ",
               "its folder remains");
    T(!nn_checkpoint_tidy(run, 2, &err), "tidies up");
    looks_like(run, "latest step-00000002 step-00000003 ", "it is removed");
    T(!unlink(latest) && !nn_checkpoint_link(run, &err),
      "a lost link is made again");
    looks_like(run, "latest step-00000002 step-00000003 ", "it is there");
    free(path);
    free(old);
    free(latest);
    free(run);
}

/* An unreadable folder is not one without a checkpoint. */
static void
unreadable_is_not_empty(void)
{
    char *run = new_run("dark"), *path = NULL, *none, *file;
    struct err err;

    T(!save(run, 1, 2, 10, &err), "one exists");
    none = mem_format("%s/none", run);
    T(nn_checkpoint_find(none, &path, &err) == -1 && !path,
      "no such folder: %s", err.msg);
    file = mem_format("%s/step-00000001/config.json", run);
    T(nn_checkpoint_find(file, &path, &err) == -1 && !path, "a file: %s",
      err.msg);
    free(file);
    free(none);
    free(run);
}

/* Every bit of every eleventh byte, and of each of the last four. */
static size_t
undetected_flips(const char *checkpoint, const char *name)
{
    char *path = mem_format("%s/%s", checkpoint, name);
    struct err err;
    size_t len, passed = 0;
    char *data = file_read(path, 1 << 20, &len, &err);

    for (size_t i = 0; i < len; i += i + 4 >= len ? 1 : 11)
        for (int bit = 0; bit < 8; bit += i % 2 ? 1 : 5) {
            data[i] ^= (char)(1 << bit);
            if (file_write(path, data, len, &err))
                abort();
            passed += !nn_checkpoint_verify(checkpoint, &err);
            data[i] ^= (char)(1 << bit);
        }
    if (file_write(path, data, len, &err))
        abort();
    free(data);
    free(path);
    return passed;
}

static void
damage_is_detected(void)
{
    static const char *const files[] = {"MANIFEST.json", "config.json",
                                        "model.safetensors"};
    char *run = new_run("damage"), *path, *file;
    struct err err;

    T(!save(run, 1, 2, 64, &err), "one to damage");
    path = mem_format("%s/step-00000001", run);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        T(!undetected_flips(path, files[i]), "bits flipped in %s", files[i]);
    T(!nn_checkpoint_verify(path, &err), "flipped back, it verifies again");

    T(!put_file(path, "more", 1, 1, &err) &&
          nn_checkpoint_verify(path, &err) < 0 && strstr(err.msg, "more"),
      "a file too many: %s", err.msg);
    file = mem_format("%s/more", path);
    unlink(file);
    free(file);
    T(!put_file(path, "config.json", 1, 41, &err) &&
          nn_checkpoint_verify(path, &err) < 0 && strstr(err.msg, "size"),
      "a file too long: %s", err.msg);
    file = mem_format("%s/config.json", path);
    unlink(file);
    free(file);
    T(nn_checkpoint_verify(path, &err) < 0 &&
          strstr(err.msg, "config.json' is missing"),
      "a file missing: %s", err.msg);
    T(!save(run, 1, 2, 64, &err) && !nn_checkpoint_verify(path, &err),
      "a damaged one is replaced by the same step");
    free(path);
    free(run);
}

/* A file may not grow beyond 4 KiB: writing fails in the middle. */
static void
a_failed_save_keeps_the_old(void)
{
    const struct rlimit small = {4096, RLIM_INFINITY};
    char *run = new_run("limit");
    struct rlimit old;
    struct err err;

    T(!save(run, 1, 2, 100, &err), "an old one");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    setrlimit(RLIMIT_FSIZE, &small);
    T(save(run, 2, 2, 100000, &err) < 0, "writing fails: %s", err.msg);
    setrlimit(RLIMIT_FSIZE, &old);
    looks_like(run, "latest step-00000001 ", "only the old one remains");
    T(!save(run, 3, 2, 100000, &err), "later it works");
    free(run);
}

static void
a_full_disk_keeps_the_old(void)
{
    char *run = new_run("full"), *command, *path;
    struct err err;

    command =
        mem_format("mount -t tmpfs -o size=128k foil %s 2>/dev/null", run);
    if (system(command)) {
        T_SKIP("a full disk", "may not mount a tmpfs");
    } else {
        T(!save(run, 1, 2, 30000, &err), "an old one on a small disk");
        T(save(run, 2, 2, 100000, &err) < 0, "the disk is full: %s", err.msg);
        looks_like(run, "latest step-00000001 ", "only the old one remains");
        path = nn_checkpoint_need(run, &err);
        T(path && !nn_checkpoint_verify(path, &err),
          "the old checkpoint is complete");
        free(path);
        T(!save(run, 3, 2, 40000, &err), "a smaller one fits");
        path = mem_format("umount %s", run);
        T(!system(path), "unmounted");
        free(path);
    }
    free(command);
    free(run);
}

/* Saves for ever, until it is killed. */
static void
save_for_ever(const char *run)
{
    struct err err;

    for (long step = 1;; step++)
        if (save(run, step, 2, 20000, &err))
            _exit(1);
}

static void
kills_leave_complete_ones(void)
{
    char *run = new_run("kill"), *latest = mem_format("%s/latest", run);
    const struct timespec tick = {0, 1000000};
    struct rng rng;
    struct err err;
    int complete = 0, found = 0;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < 25; i++) {
        pid_t child = fork();
        struct timespec pause = {0, (long)rng_below(&rng, 12000000)};
        long *steps;
        size_t n = 0;

        if (!child)
            save_for_ever(run);
        for (int ms = 0; ms < 20000 && !file_exists(latest); ms++)
            nanosleep(&tick, NULL); // the first one, on a busy machine
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        steps = nn_checkpoint_steps(run, &n, &err);
        for (size_t k = 0; k < n; k++) {
            char *path = mem_format("%s/step-%08ld", run, steps[k]);

            complete += !nn_checkpoint_verify(path, &err);
            found++;
            free(path);
        }
        free(steps);
        if (nn_checkpoint_tidy(run, 2, &err))
            abort();
    }
    T(found > 0 && complete == found, "killed 25 times, %d of %d are complete",
      complete, found);
    free(latest);
    free(run);
}

int
main(void)
{
    struct err err;

    child_folder(folder);
    a_run_of_checkpoints();
    linked_checkpoints_stay();
    partial_ones_are_removed();
    an_interrupted_commit_is_completed();
    unreadable_is_not_empty();
    damage_is_detected();
    a_failed_save_keeps_the_old();
    a_full_disk_keeps_the_old();
    fflush(stdout);
    kills_leave_complete_ones();
    file_remove(folder, &err);
    return t_done();
}
