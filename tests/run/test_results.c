/* Results in a run directory. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "nn/checkpoint.h"
#include "run/results.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"

/* Makes a checkpoint of a step. */
static void
make_step(const char *run, long step)
{
    struct err err;
    char *folder = nn_checkpoint_begin(run, step, &err);
    char *path = mem_format("%s/config.json", folder);
    char *text = mem_format("{\"step\":%ld}", step);

    if (file_write(path, text, strlen(text), &err) ||
        nn_checkpoint_commit(run, step, &err))
        printf("# %s\n", err.msg);
    free(text);
    free(path);
    free(folder);
}

static json_t *
encoder(const char *folder, const char *manifest)
{
    return json_pack("{s:s s:s}", "checkpoint", folder, "manifest", manifest);
}

static void
an_encoder_is_found_in_its_run(void)
{
    char hex[33] = "";
    struct err err = {""};
    long step = 0;
    json_t *about;
    char *run;

    T(!run_results_manifest("run", 7, hex, &err) && strlen(hex) == 32,
      "a checkpoint has a manifest %s", err.msg);
    about = encoder("run/latest", hex);
    T(run_results_origin(about, &run, &step, &err) == 0,
      "a folder without metrics is no run");
    if (file_write("run/metrics.jsonl", "", 0, &err))
        printf("# %s\n", err.msg);
    T(run_results_origin(about, &run, &step, &err) == 1 &&
          !strcmp(run, "run") && step == 7,
      "run and step are found by the manifest");
    free(run);
    json_object_set_new(about, "untrained", json_true());
    T(run_results_origin(about, &run, &step, &err) == 0,
      "initial weights are no result of it");
    json_decref(about);
    about = encoder("run/latest", "0123");
    T(run_results_origin(about, &run, &step, &err) == -1 &&
          strstr(err.msg, "'run'"),
      "a removed checkpoint is an error: %s", err.msg);
    json_decref(about);
    T(run_results_origin(NULL, &run, &step, &err) == 0,
      "no encoder belongs to no run");
}

static void
results_are_added(void)
{
    json_t *result = json_pack("{s:s s:f}", "measure", "knn", "accuracy", 0.5);
    struct err err = {""};
    json_t *all = run_results_read("run", &err);
    int file;

    T(all && json_array_size(all) == 0, "a run begins without results");
    json_decref(all);
    T(!run_results_add("run", 7, "ab", result, &err), "a result is added %s",
      err.msg);
    file = open("run/results.jsonl", O_WRONLY | O_APPEND);
    T(write(file, "{\"measure\":\"kn", 14) == 14,
      "a writer dies in the middle of a line");
    close(file);
    T(!run_results_add("run", 9, "cd", result, &err), "another is added %s",
      err.msg);
    all = run_results_read("run", &err);
    T(all && json_array_size(all) == 2, "both are read, without the "
                                        "incomplete line");
    T(json_integer_value(json_object_get(json_array_get(all, 1), "step")) ==
              9 &&
          json_number_value(
              json_object_get(json_array_get(all, 1), "accuracy")) == 0.5 &&
          json_number_value(json_object_get(json_array_get(all, 1), "time")) >
              1e9,
      "with step, time and figures");
    json_decref(all);
    json_decref(result);
    T(run_results_add("none", 1, "", json_null(), &err) == -1 &&
          strstr(err.msg, "none/results.jsonl"),
      "a failed write is an error: %s", err.msg);
}

/* Adds 100 results. */
static void
add_many(void)
{
    json_t *result = json_pack("{s:s}", "measure", "many");
    struct err err;

    for (long i = 0; i < 100; i++)
        run_results_add("run", i, "ab", result, &err);
    json_decref(result);
}

static void
a_result_of_an_epoch_is_a_sentence(void)
{
    json_t *result = json_pack("{s:i s:s}", "epoch", 3, "text", "half\x1b[2J");
    char text[RUN_RESULTS_TEXT];

    T(run_results_text(result, text) == 1 &&
          !strncmp(text, "epoch 3: half", 13),
      "a result of an epoch with a text is a sentence");
    T(!strchr(text, '\x1b'), "it is safe for a terminal");
    json_object_del(result, "epoch");
    T(!run_results_text(result, text) && !run_results_text(NULL, text),
      "other results are not");
    json_decref(result);
}

static void
several_may_write(void)
{
    struct err err;
    json_t *all;

    for (int i = 0; i < 3; i++)
        if (!fork()) {
            add_many();
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    all = run_results_read("run", &err);
    T(json_array_size(all) == 302, "three writers lose none of 300 lines");
    json_decref(all);
}

int
main(void)
{
    char scratch[256];
    struct err err;

    child_scratch(scratch);
    if (file_mkdir("run", 0700, &err))
        return 1;
    make_step("run", 5);
    make_step("run", 7);
    an_encoder_is_found_in_its_run();
    results_are_added();
    a_result_of_an_epoch_is_a_sentence();
    several_may_write();
    if (chdir("/") || file_remove(scratch, &err))
        return 1;
    return t_done();
}
