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

/* A part that keeps a number, and writes down what is asked of it. */
struct number {
    const char *file;
    int value, refuses;
};

static char calls[256];

static void
note(const struct number *number, const char *what)
{
    snprintf(calls + strlen(calls), sizeof calls - strlen(calls), "%s.%s ",
             number->file, what);
}

static int
prepare(void *self, struct err *err)
{
    struct number *number = self;

    note(number, "prepare");
    return number->refuses == 1 ? err_set(err, "not ready") : 0;
}

static int
save(void *self, const char *folder, struct err *err)
{
    struct number *number = self;
    char *path = mem_format("%s/%s", folder, number->file);
    char *text = mem_format("%d", number->value);
    int rc;

    note(number, "save");
    rc = number->refuses == 2 ? err_set(err, "cannot save")
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

    note(number, "load");
    text = file_read(path, 100, &len, err);
    number->value = text ? (int)strtol(text, NULL, 10) : -1;
    free(text);
    free(path);
    return text ? 0 : -1;
}

static struct train_part
part(struct number *number, int reverts)
{
    return (struct train_part){.name = number->file,
                               .self = number,
                               .prepare = prepare,
                               .save = save,
                               .load = load,
                               .revert = reverts ? load : NULL};
}

static void
parts_are_walked_in_their_order(void)
{
    struct number a = {.file = "a", .value = 3}, b = {.file = "b", .value = 4};
    struct train_checkpoints checkpoints;
    struct err err = {""};
    char *folder;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    train_checkpoints_add(&checkpoints, part(&b, 0));
    T(checkpoints.saved == -1, "nothing is saved at first");
    T(!train_checkpoints_commit(&checkpoints, 7, &err), "committed %s",
      err.msg);
    T(!strcmp(calls, "a.prepare b.prepare a.save b.save "),
      "all are prepared before the first is saved: %s", calls);
    T(checkpoints.saved == 7, "it is known which step was saved");
    folder = nn_checkpoint_need(".", &err);
    T(folder && !nn_checkpoint_verify(folder, &err), "it is whole");
    a.value = b.value = 0;
    T(!train_checkpoints_rollback(&checkpoints, &err) && a.value == 3 &&
          !b.value,
      "rolled back, a part that is not reverted stays as it is");
    a.value = 0;
    T(!train_checkpoints_load(&checkpoints, folder, 7, &err) && a.value == 3 &&
          b.value == 4,
      "loaded, all come back");
    free(folder);
}

static void
a_part_that_refuses_leaves_what_was(void)
{
    struct number a = {.file = "a", .value = 5}, b = {.file = "b", .value = 6};
    struct train_checkpoints checkpoints;
    struct err err;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    train_checkpoints_add(&checkpoints, part(&b, 1));
    for (b.refuses = 1; b.refuses <= 2; b.refuses++) {
        calls[0] = 0;
        T(train_checkpoints_commit(&checkpoints, 8, &err) == -1 &&
              checkpoints.saved == -1,
          "not committed: %s", err.msg);
        T(!strcmp(calls, b.refuses == 1 ? "a.prepare b.prepare "
                                        : "a.prepare b.prepare a.save b.save "),
          "nothing else is asked");
        T(!train_checkpoints_rollback(&checkpoints, &err) && a.value == 3,
          "the newest is that of before");
        a.value = 5;
    }
}

/* The second part cannot go back: the first has, already. */
static void
a_part_that_cannot_go_back_is_the_end(void)
{
    struct number a = {.file = "a", .value = 1}, b = {.file = "c", .value = 2};
    struct train_checkpoints checkpoints;
    struct err err = {""};

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    train_checkpoints_add(&checkpoints, part(&b, 1)); // whose file is not there
    T(train_checkpoints_rollback(&checkpoints, &err) == -1, "no way back: %s",
      err.msg);
    T(train_checkpoints_commit(&checkpoints, 8, &err) == -1 &&
          checkpoints.saved == -1 && !file_exists("step-00000008"),
      "parts of two steps are not saved together: %s", err.msg);
    b.file = "a";
    T(!train_checkpoints_rollback(&checkpoints, &err) &&
          !train_checkpoints_commit(&checkpoints, 7, &err),
      "once that succeeds, they are %s", err.msg);
}

static void
old_ones_go(void)
{
    struct number a = {.file = "a", .value = 1};
    struct train_checkpoints checkpoints;
    struct err err = {""};
    size_t n;
    long *steps;

    train_checkpoints_init(&checkpoints, ".", 2);
    train_checkpoints_add(&checkpoints, part(&a, 1));
    for (int64_t step = 8; step <= 10; step++)
        T(!train_checkpoints_commit(&checkpoints, step, &err) &&
              !train_checkpoints_tidy(&checkpoints, &err),
          "committed and tidied up %s", err.msg);
    steps = nn_checkpoint_steps(".", &n, &err);
    T(n == 2 && steps[0] == 9 && steps[1] == 10, "two of four are kept");
    free(steps);
    T(file_exists("latest/a"), "the newest is the latest");
}

static void
a_damaged_checkpoint_is_no_way_back(void)
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
    T(!train_checkpoints_commit(&checkpoints, 11, &err),
      "an encoder is saved %s", err.msg);
    params[3] = 9;
    T(!train_checkpoints_rollback(&checkpoints, &err) && params[3] == keep,
      "and taken back %s", err.msg);
    params[3] = NAN;
    T(train_checkpoints_commit(&checkpoints, 12, &err) == -1 &&
          strstr(err.msg, "not finite"),
      "one that is not finite is not saved: %s", err.msg);
    file = fopen("step-00000011/model.safetensors", "r+");
    fputs("no", file);
    fclose(file);
    T(train_checkpoints_rollback(&checkpoints, &err) == -1 && isnan(params[3]),
      "damage is seen before anything is loaded: %s", err.msg);
    params[3] = keep;
    T(train_checkpoints_commit(&checkpoints, 13, &err) == -1 &&
          checkpoints.saved == 11 && !file_exists("step-00000013"),
      "what is left then is not saved: %s", err.msg);
    train_encoder_close(&encoder);
}

int
main(void)
{
    char scratch[256], *command;

    child_scratch(scratch);
    parts_are_walked_in_their_order();
    a_part_that_refuses_leaves_what_was();
    a_part_that_cannot_go_back_is_the_end();
    old_ones_go();
    a_damaged_checkpoint_is_no_way_back();
    command = mem_format("rm -r '%s'", scratch);
    T(!chdir("/") && !system(command), "tidied up");
    free(command);
    return t_done();
}
