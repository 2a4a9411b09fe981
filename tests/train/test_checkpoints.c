#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "nn/checkpoint.h"
#include "t.h"
#include "tiny.h"
#include "train/checkpoints.h"
#include "util/file.h"
#include "util/mem.h"

/* A part that stores a number and records calls. */
struct number {
    const char *file;
    int value, refuses;
};

static char calls[256];

static void
record_call(const struct number *number, const char *what)
{
    snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "%s.%s ",
             number->file, what);
}

static int
prepare(void *self, struct err *err)
{
    struct number *number = self;

    record_call(number, "prepare");
    return number->refuses == 1 ? err_set(err, "not ready") : 0;
}

static int
save(void *self, const char *folder, struct err *err)
{
    struct number *number = self;
    char *path = mem_format("%s/%s", folder, number->file);
    char *text = mem_format("%d", number->value);
    int rc;

    record_call(number, "save");
    rc = number->refuses == 2   ? err_set(err, "cannot save")
         : number->refuses == 3 ? symlink("nowhere", path)
                                : file_write(path, text, strlen(text), err);
    free(text);
    free(path);
    return rc;
}

static int
load(void *self, const char *folder, struct err *err)
{
    struct number *number = self;
    char *path = mem_format("%s/%s", folder, number->file), *text;
    size_t len;

    record_call(number, "load");
    text = file_read(path, 100, &len, err);
    number->value = text ? (int)strtol(text, NULL, 10) : -1;
    free(text);
    free(path);
    return text ? 0 : -1;
}

static struct train_part
part(struct number *number, int reverts)
{
    return (struct train_part){.self = number,
                               .prepare = prepare,
                               .save = save,
                               .load = load,
                               .revert = reverts ? load : NULL};
}

static int
commit(struct train_checkpoints *checkpoints, int64_t step, struct err *err)
{
    return train_checkpoints_begin(checkpoints, step, err) ||
                   train_checkpoints_finish(checkpoints, 1, err) != 1
               ? -1
               : 0;
}

static void
parts_are_called_in_their_order(void)
{
    struct number a = {.file = "a", .value = 3}, b = {.file = "b", .value = 4};
    struct train_checkpoints checkpoints;
    struct err err = {""};
    char *folder;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    train_checkpoints_add(&checkpoints, part(&b, 0));
    T(checkpoints.saved == -1, "nothing is saved at first");
    T(!commit(&checkpoints, 7, &err), "committed %s", err.msg);
    T(!strcmp(calls, "a.prepare b.prepare a.save b.save "),
      "all parts are prepared before the first one is saved: %s", calls);
    T(checkpoints.saved == 7, "the saved step is recorded");
    folder = nn_checkpoint_need(".", &err);
    T(folder && !nn_checkpoint_verify(folder, &err), "the checkpoint verifies");
    a.value = b.value = 0;
    T(!train_checkpoints_rollback(&checkpoints, &err) && a.value == 3 &&
          !b.value,
      "after a rollback a part without revert() is unchanged");
    a.value = 0;
    T(!train_checkpoints_load(&checkpoints, folder, 7, &err) && a.value == 3 &&
          b.value == 4,
      "load restores all parts");
    free(folder);
}

static void
a_failed_commit_changes_nothing(void)
{
    struct number a = {.file = "a", .value = 5}, b = {.file = "b", .value = 6};
    struct train_checkpoints checkpoints;
    struct err err;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    train_checkpoints_add(&checkpoints, part(&b, 1));
    for (b.refuses = 1; b.refuses <= 2; b.refuses++) {
        calls[0] = 0;
        T(commit(&checkpoints, 8, &err) == -1 && checkpoints.saved == -1,
          "not committed: %s", err.msg);
        T(!strcmp(calls, b.refuses == 1 ? "a.prepare b.prepare "
                                        : "a.prepare b.prepare a.save b.save "),
          "no other function is called");
        T(!train_checkpoints_rollback(&checkpoints, &err) && a.value == 3,
          "the newest checkpoint is the old one");
        a.value = 5;
    }
}

/* The second part fails to revert after the first one has reverted. */
static void
a_failed_rollback_forbids_commits(void)
{
    struct number a = {.file = "a", .value = 1}, b = {.file = "c", .value = 2};
    struct train_checkpoints checkpoints;
    struct err err = {""};

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    train_checkpoints_add(&checkpoints, part(&b, 1)); // its file does not exist
    T(train_checkpoints_rollback(&checkpoints, &err) == -1,
      "a rollback fails: %s", err.msg);
    T(commit(&checkpoints, 8, &err) == -1 && checkpoints.saved == -1 &&
          !file_exists("step-00000008"),
      "parts of two steps are not saved together: %s", err.msg);
    b.file = "a";
    T(!train_checkpoints_rollback(&checkpoints, &err) &&
          !commit(&checkpoints, 7, &err),
      "after a successful rollback they are %s", err.msg);
}

static void
a_thread_completes_it(void)
{
    struct number a = {.file = "a", .value = 21};
    struct train_checkpoints checkpoints;
    struct err err = {""};
    int rc;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    T(!train_checkpoints_finish(&checkpoints, 1, &err), "none is pending");
    T(!train_checkpoints_begin(&checkpoints, 20, &err) &&
          checkpoints.saved == -1,
      "begun, and not saved yet %s", err.msg);
    a.value = 22; // training continues
    while (!(rc = train_checkpoints_finish(&checkpoints, 0, &err)))
        sleep(0);
    T(rc == 1 && checkpoints.saved == 20, "complete without a wait");
    T(!train_checkpoints_finish(&checkpoints, 1, &err), "reported once");
    T(!train_checkpoints_rollback(&checkpoints, &err) && a.value == 21,
      "it has the state of its step");
    a.refuses = 3; // a link, which the thread refuses
    T(!train_checkpoints_begin(&checkpoints, 22, &err),
      "the files are written");
    T(train_checkpoints_finish(&checkpoints, 1, &err) == -1 &&
          checkpoints.saved == 20 && !file_exists("step-00000022") &&
          !file_exists(".step-00000022.new"),
      "an error of the thread leaves no checkpoint: %s", err.msg);
    a.refuses = 0;
    T(!commit(&checkpoints, 22, &err), "the next one is saved");
}

static void
old_checkpoints_are_removed(void)
{
    struct number a = {.file = "a", .value = 1};
    struct train_checkpoints checkpoints;
    struct err err = {""};
    size_t n;
    long *steps;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    for (int64_t step = 8; step <= 10; step++)
        T(!commit(&checkpoints, step, &err) &&
              !train_checkpoints_tidy(&checkpoints, &err),
          "committed and tidied up %s", err.msg);
    steps = nn_checkpoint_steps(".", &n, &err);
    T(n == 2 && steps[0] == 9 && steps[1] == 10, "two of four remain");
    free(steps);
    T(file_exists("latest/a"), "the newest is the latest");
}

static void
a_damaged_checkpoint_is_not_loaded(void)
{
    struct train_encoder encoder = tiny_open("batch", 4, 0);
    struct train_checkpoints checkpoints;
    struct err err = {""};
    size_t n;
    float *params = nn_net_params(train_native(&encoder)->net, &n),
          keep = params[3];
    FILE *file;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, train_encoder_part(&encoder));
    T(!commit(&checkpoints, 11, &err), "an encoder is saved %s", err.msg);
    params[3] = 9;
    T(!train_checkpoints_rollback(&checkpoints, &err) && params[3] == keep,
      "an encoder is reverted %s", err.msg);
    params[3] = NAN;
    T(commit(&checkpoints, 12, &err) == -1 && strstr(err.msg, "not finite"),
      "an encoder that is not finite is not saved: %s", err.msg);
    file = fopen("step-00000011/model.safetensors", "r+");
    fputs("no", file);
    fclose(file);
    T(train_checkpoints_rollback(&checkpoints, &err) == -1 && isnan(params[3]),
      "damage is found before anything is loaded: %s", err.msg);
    params[3] = keep;
    T(commit(&checkpoints, 13, &err) == -1 && checkpoints.saved == 11 &&
          !file_exists("step-00000013"),
      "after that nothing is saved: %s", err.msg);
    train_encoder_close(&encoder);
}

int
main(void)
{
    char scratch[256], *command;

    child_scratch(scratch);
    parts_are_called_in_their_order();
    a_failed_commit_changes_nothing();
    a_failed_rollback_forbids_commits();
    old_checkpoints_are_removed();
    a_damaged_checkpoint_is_not_loaded();
    a_thread_completes_it();
    command = mem_format("rm -r '%s'", scratch);
    T(!chdir("/") && !system(command), "tidied up");
    free(command);
    return t_done();
}
