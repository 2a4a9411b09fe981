#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "run/batches.h"
#include "t.h"
#include "util/file.h"

enum { IMAGES = 4, VIEWS = 2, EXTRA = 3, MOST = 6 };

static const char digest[] = "0123456789abcdef0123456789abcdef",
                  making[] = "{\"recipe\":\"cifar\",\"size\":32}";

/* The batch of a step: ids depend on the step; each third batch is smaller. */
static struct run_batch_record
batch_of(int64_t total, int64_t *ids)
{
    for (int64_t i = 0; i < IMAGES; i++)
        ids[i] = 100 * total + i;
    return (struct run_batch_record){.total = total,
                                     .batch.epoch = total / 10,
                                     .batch.step = total % 10,
                                     .batch.b = IMAGES - (total % 3 == 0),
                                     .batch.v = VIEWS,
                                     .batch.ids = ids};
}

static int
put_record(struct run_batches *batches, const struct run_batch_record *record)
{
    struct err err = {""};
    const int rc = run_batches_put(batches, record, MOST, digest, making, &err);

    if (rc)
        fprintf(stderr, "%s\n", err.msg);
    return rc;
}

/* Writes steps first .. last of a run with first - 1 steps done. */
static void
write_steps(int64_t first, int64_t last)
{
    struct run_batches batches = {.rows = -1, .lines = -1};
    struct err err;

    if (run_batches_open(&batches, ".", first - 1, &err))
        printf("# %s\n", err.msg);
    for (int64_t total = first; total <= last; total++) {
        int64_t ids[IMAGES];
        const struct run_batch_record record = batch_of(total, ids);

        put_record(&batches, &record);
    }
    run_batches_close(&batches);
}

/* Whether a step is read as it was written; else 0 with a sentence. */
static int
is_recorded(int64_t total, struct err *err)
{
    struct run_batch_record is, was;
    int64_t ids[IMAGES], *memory;
    json_t *line;
    int same;

    err->msg[0] = 0;
    if (run_batches_get(".", total, &is, &line, &memory, err))
        return 0;
    was = batch_of(is.total, ids);
    same = (!total || is.total == total) && is.batch.epoch == was.batch.epoch &&
           is.batch.step == was.batch.step && is.batch.b == was.batch.b &&
           is.batch.v == VIEWS && !is.batch.view_of && !is.batch.extra.n &&
           !memcmp(is.batch.ids, ids, was.batch.b * sizeof *ids);
    json_decref(line);
    free(memory);
    return same;
}

static int64_t
newest_step(void)
{
    struct run_batch_record record = {0};
    int64_t *memory;
    json_t *line;
    struct err err;

    if (run_batches_get(".", 0, &record, &line, &memory, &err)) {
        printf("# %s\n", err.msg);
        return -1;
    }
    json_decref(line);
    free(memory);
    return record.total;
}

static int64_t
size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : (int64_t)st.st_size;
}

static void
all_steps_are_read(void)
{
    struct run_batches none = {.rows = -1, .lines = -1};
    struct err err;
    int known = 1;

    T(!is_recorded(1, &err) && strstr(err.msg, "older trainers"), "%s",
      err.msg);
    run_batches_open(&none, ".", 0, &err);
    run_batches_close(&none);
    T(!is_recorded(0, &err), "no step of a new run: %s", err.msg);
    write_steps(1, 12);
    for (int64_t total = 1; total <= 12; total++)
        known &= is_recorded(total, &err);
    T(known, "each step's batch is read");
    T(newest_step() == 12 && is_recorded(0, &err), "the newest step is found");
    T(!is_recorded(13, &err) && strstr(err.msg, "newest is 12"), "%s", err.msg);
    T(size_of("batches.i32") == 12 * 4 * (3 + IMAGES),
      "a row has its place and room for all ids, four bytes each");
}

static void
repeated_steps_are_truncated(void)
{
    struct run_batches batches = {.rows = -1, .lines = -1};
    struct err err;

    run_batches_open(&batches, ".", 8, &err);
    run_batches_close(&batches);
    T(newest_step() == 8, "eight of twelve steps are left");
    write_steps(9, 10);
    write_steps(6, 7);
    T(newest_step() == 7 && is_recorded(5, &err) && is_recorded(6, &err) &&
          !is_recorded(8, &err),
      "a run that resumes earlier writes its own steps");
    write_steps(8, 30);
    T(newest_step() == 30 && is_recorded(1, &err) && is_recorded(6, &err) &&
          is_recorded(30, &err),
      "all its steps are read");
    T(size_of("batches.i32") == 30 * 4 * (3 + IMAGES), "in as many rows");
    write_steps(1, 3);
    T(newest_step() == 3 && size_of("batches.i32") == 3 * 4 * (3 + IMAGES) &&
          is_recorded(3, &err),
      "a run that restarts from step 1 has no old rows");
}

/* The plan in the line of a step, "" for none. */
static const char *
plan_of(int64_t total)
{
    static char plan[256];
    struct run_batch_record record;
    int64_t *memory;
    json_t *line;
    struct err err;

    if (run_batches_get(".", total, &record, &line, &memory, &err))
        return "unknown";
    snprintf(plan, sizeof plan, "%s",
             json_is_string(json_object_get(line, "plan"))
                 ? json_string_value(json_object_get(line, "plan"))
                 : "");
    json_decref(line);
    free(memory);
    return plan;
}

/* The number of lines in a file. */
static size_t
count_lines(const char *path)
{
    struct err err;
    size_t len, n = 0;
    char *text = file_read(path, 1 << 20, &len, &err);

    for (size_t i = 0; text && i < len; i++)
        n += text[i] == '\n';
    free(text);
    return n;
}

static void
each_step_has_its_plan(void)
{
    static const char *const plan[] = {NULL, "a", "a", "b", "", "b"};
    struct run_batches batches = {.rows = -1, .lines = -1};
    struct err err;

    run_batches_open(&batches, ".", 0, &err);
    for (int64_t total = 1; total <= 6; total++) {
        int64_t ids[IMAGES];
        struct run_batch_record record = batch_of(total, ids);

        record.plan = plan[total - 1];
        put_record(&batches, &record);
    }
    run_batches_close(&batches);
    T(!*plan_of(1), "a step without a plan");
    T(!strcmp(plan_of(2), "a") && !strcmp(plan_of(3), "a"), "the first plan");
    T(!strcmp(plan_of(4), "b") && !strcmp(plan_of(5), "b") &&
          !strcmp(plan_of(6), "b"),
      "the second plan, also for a step without one");
    T(count_lines("batches.jsonl") == 3, "a line for each");
    T(is_recorded(1, &err) && is_recorded(3, &err) && is_recorded(6, &err),
      "each step's batch is read");
}

/* Rows of zeros are no steps. */
static void
a_run_may_have_steps_without_rows(void)
{
    struct err err;

    write_steps(1, 0);
    write_steps(501, 504);
    T(newest_step() == 504 && is_recorded(501, &err), "steps after the first "
                                                      "write");
    T(!is_recorded(500, &err), "no earlier ones: %s", err.msg);
}

static void
a_step_may_be_left_out(void)
{
    struct run_batches batches = {.rows = -1, .lines = -1};
    int64_t ids[IMAGES] = {INT32_MAX, (int64_t)INT32_MAX + 1};
    struct run_batch_record record = {
        .total = 2, .batch.b = 2, .batch.v = 2, .batch.ids = ids};
    struct err err;

    write_steps(1, 1);
    run_batches_open(&batches, ".", 1, &err);
    T(put_record(&batches, &record) < 0, "a number above 2^31 - 1 is refused");
    record = batch_of(3, ids);
    T(!put_record(&batches, &record), "the next step is written");
    run_batches_close(&batches);
    T(is_recorded(3, &err) && is_recorded(1, &err) && newest_step() == 3,
      "at its place");
    T(!is_recorded(2, &err) && strstr(err.msg, "is not recorded"), "%s",
      err.msg);
}

/* Writes a step with fixed views and extra images, and a smaller one. */
static void
write_images(const int64_t *ids, const int64_t *variant, const int64_t *extra,
             const int64_t *view, const int64_t *epoch)
{
    struct run_batches batches = {.rows = -1, .lines = -1};
    struct run_batch_record record = {.total = 1,
                                      .batch.epoch = 7,
                                      .batch.b = 3,
                                      .batch.v = VIEWS,
                                      .batch.extra.n = EXTRA,
                                      .batch.ids = ids,
                                      .batch.view_of = variant,
                                      .batch.extra.ids = extra,
                                      .batch.extra.view = view,
                                      .batch.extra.epoch = epoch};
    struct err err;

    run_batches_open(&batches, ".", 0, &err);
    put_record(&batches, &record);
    record.total = 2;
    record.batch.b = 2;
    record.batch.extra.n = 1;
    record.batch.extra.view = NULL;
    put_record(&batches, &record);
    run_batches_close(&batches);
}

static void
all_fields_are_restored(void)
{
    static const int64_t ids[] = {5, 6, 7}, variant[] = {1, 2, 3, 4, 5, 6},
                         extra[] = {8, 9, 10}, view[] = {-1, 0, 4},
                         epoch[] = {1, 2, 3};
    struct run_batch_record record;
    int64_t *memory;
    json_t *line;
    struct err err;

    write_images(ids, variant, extra, view, epoch);
    T(!run_batches_get(".", 1, &record, &line, &memory, &err) &&
          !memcmp(record.batch.ids, ids, sizeof ids) &&
          !memcmp(record.batch.view_of, variant, sizeof variant),
      "samples and their fixed views");
    T(record.batch.extra.n == EXTRA &&
          !memcmp(record.batch.extra.ids, extra, sizeof extra) &&
          record.batch.extra.view[2] == 4 && record.batch.extra.epoch[2] == 3,
      "extra images and their views");
    T(record.batch.extra.view[0] == VIEWS && record.batch.extra.epoch[0] == 7,
      "a new view has the next number, of this epoch");
    T(json_integer_value(json_object_get(line, "extra")) == MOST &&
          !strcmp(json_string_value(json_object_get(line, "digest")), digest) &&
          json_is_object(json_object_get(line, "view_options")),
      "the line has the most extra images, the data set and the recipe");
    json_decref(line);
    free(memory);
    T(!run_batches_get(".", 2, &record, &line, &memory, &err) &&
          record.batch.b == 2 && record.batch.extra.n == 1 &&
          record.batch.view_of[2] == 3 && record.batch.extra.view[0] == VIEWS &&
          record.batch.extra.epoch[0] == 7,
      "a smaller batch");
    json_decref(line);
    free(memory);
}

/* A batch larger than the ones before, and an earlier step. */
static void
lines_record_changes(void)
{
    struct run_batches batches = {.rows = -1, .lines = -1};
    int64_t ids[IMAGES], many[2 * IMAGES] = {0};
    struct run_batch_record record;
    struct err err;

    write_steps(1, 4);
    run_batches_open(&batches, ".", 4, &err);
    for (int64_t total = 5; total < 9; total++) {
        record = batch_of(total, ids);
        if (total == 7) {
            record.batch.ids = many;
            record.batch.b = 2 * IMAGES;
        }
        put_record(&batches, &record);
    }
    T(is_recorded(4, &err) && is_recorded(6, &err) && is_recorded(8, &err) &&
          newest_step() == 8,
      "steps before and after a larger one are read");
    record = batch_of(7, ids);
    put_record(&batches, &record);
    T(newest_step() == 7 && is_recorded(7, &err), "a repeated step is read");
    record = batch_of(3, ids);
    put_record(&batches, &record);
    T(newest_step() == 3 && is_recorded(2, &err) && is_recorded(3, &err),
      "a step before the first one of this start is read");
    run_batches_close(&batches);
}

/* Writes steps with a limit on the size of files. */
static void
on_a_full_disk(const void *arg)
{
    const rlim_t *bytes = arg;
    struct rlimit limit = {*bytes, *bytes};

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    write_steps(31, 34);
}

static void
a_full_disk_breaks_no_row(void)
{
    const rlim_t row = 4 * (3 + IMAGES), bytes[] = {100, 31 * row + 9};
    struct child c;
    struct err err;

    write_steps(1, 30);
    c = child_run(on_a_full_disk, &bytes[0]);
    T(strstr(c.err, "cannot write to batches.jsonl: "), "no room for a line");
    T(newest_step() == 30 && is_recorded(30, &err),
      "earlier rows are unharmed");
    c = child_run(on_a_full_disk, &bytes[1]);
    T(strstr(c.err, "cannot write to batches.i32: disk full\n"),
      "no room for a row");
    T(newest_step() == 31 && is_recorded(31, &err) &&
          size_of("batches.i32") == (int64_t)(31 * row),
      "the file ends with the last complete row");
    write_steps(32, 34);
    T(is_recorded(30, &err) && is_recorded(31, &err) && is_recorded(34, &err),
      "a resumed run has all steps");
}

/* Appends text to the lines, such as a write cut by a crash. */
static void
append_text(const char *text)
{
    const int file = open("batches.jsonl", O_WRONLY | O_APPEND);
    struct err err;

    if (file_append(file, text, strlen(text), "batches.jsonl", &err))
        printf("# %s\n", err.msg);
    close(file);
}

static void
damage_is_refused(void)
{
    struct err err;

    write_steps(1, 4);
    append_text("{\"version\":1,\"fir");
    T(is_recorded(4, &err), "an incomplete line is ignored");
    write_steps(5, 6);
    T(is_recorded(4, &err) && is_recorded(6, &err),
      "an incomplete line is cut off");
    append_text("{\"version\":1,\"first\":1,\"offset\":0,\"width\":9,"
                "\"images\":4,\"views\":2,\"fixed\":false,\"extra\":0}\n");
    T(!is_recorded(4, &err) && strstr(err.msg, "width"), "%s", err.msg);
    append_text("nonsense\n");
    T(!is_recorded(4, &err), "%s", err.msg);
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    all_steps_are_read();
    repeated_steps_are_truncated();
    a_run_may_have_steps_without_rows();
    a_step_may_be_left_out();
    each_step_has_its_plan();
    all_fields_are_restored();
    lines_record_changes();
    a_full_disk_breaks_no_row();
    damage_is_refused();
    T(!unlink("batches.i32") && !unlink("batches.jsonl") && !chdir("/") &&
          !rmdir(scratch),
      "nothing else was written");
    return t_done();
}
