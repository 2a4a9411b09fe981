#include <string.h>

#include "child.h"
#include "nn/safetensors.h"
#include "t.h"
#include "train/samples.h"

enum { SIZE = 4 };

static const struct train_state run_state = {.total = 114};

/* Reads samples.safetensors. */
static int
load(struct err *err)
{
    struct train_samples samples;
    int rc;

    train_samples_init(&samples, loss_objective_find("emc2", err), SIZE, 0,
                       &run_state);
    rc = train_samples_load(&samples, ".", err);
    train_samples_release(&samples);
    return rc;
}

/* Writes samples.safetensors with one tensor and reads it. */
static int
load_tensor(const char *name, const char *dtype, size_t rank,
            const char *sampler, struct err *err)
{
    json_t *about = sampler ? json_pack("{s:s}", "sampler", sampler) : NULL;
    struct nn_array array;
    int rc;

    nn_array_init(&array, name, dtype, rank, (size_t[]){SIZE, 2}, NULL);
    rc = nn_arrays_write("samples.safetensors", &array, 1, about, err);
    T(!rc, "a tensor '%s' of type %s", name, dtype);
    free(array.name);
    free(array.data);
    json_decref(about);
    return load(err);
}

/* The tables of a sampler. */
static void
tables_are_restored(void)
{
    static const uint8_t bytes[] = "abcdefgh";
    const struct table_rows rows[] = {
        {.name = "t", .rows = 4, .width = 2, .n = 4, .row = bytes},
        {.name = "u.v", .rows = 1, .width = 8, .n = 1, .row = bytes},
    };
    struct err err = {""};
    const struct loss_objective *emc2 = loss_objective_find("emc2", &err);
    struct train_samples out, in;
    struct nn_array *array = NULL;
    json_t *about = NULL;
    size_t n = 0;

    train_samples_init(&out, emc2, SIZE, 0, &run_state);
    train_samples_init(&in, emc2, SIZE, 0, &run_state);
    sample_store_write(&out.store, "sampler of mine 3", 2, rows);
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err),
      "a sampler's tables are saved and loaded %s", err.msg);
    T(in.store.n == 2 && !strcmp(in.store.sampler, "sampler of mine 3") &&
          !strcmp(in.store.table[1].name, "u.v") &&
          in.store.table[0].rows == 4 && in.store.table[0].width == 2 &&
          !memcmp(in.store.table[0].bytes, bytes, 8) &&
          !memcmp(in.store.table[1].bytes, bytes, 8),
      "unchanged");
    T(!nn_arrays_read("samples.safetensors", &array, &n, &about, &err) &&
          nn_arrays_find(array, n, "sampler.t") &&
          !strcmp(json_string_value(json_object_get(about, "total")), "114"),
      "the file has the number of trained steps");
    nn_arrays_free(array, n);
    json_decref(about);
    in.store.table[0].bytes[0] = 'z';
    T(!train_samples_part(&in).revert(&in, ".", &err) &&
          in.store.table[0].bytes[0] == 'a',
      "revert restores them, too %s", err.msg);
    train_samples_release(&in);
    train_samples_release(&out);
}

static void
wrong_tables_are_refused(void)
{
    struct err err;

    T(load_tensor("chain", "I64", 2, NULL, &err) == -1 &&
          strstr(err.msg, "before version 2 of the protocol"),
      "a file of an earlier foil: %s", err.msg);
    T(load_tensor("sampler.t", "I64", 2, "x", &err) == -1 &&
          strstr(err.msg, "'sampler.t' is no table"),
      "a table of another type: %s", err.msg);
    T(load_tensor("sampler.t", "U8", 1, "x", &err) == -1 &&
          strstr(err.msg, "'sampler.t' is no table"),
      "a table of another rank: %s", err.msg);
    T(load_tensor("sampler.", "U8", 2, "x", &err) == -1 &&
          strstr(err.msg, "name has 0 bytes"),
      "a table without a name: %s", err.msg);
    T(load_tensor("sampler.t", "U8", 2,
                  "0123456789012345678901234567890123456789012345678901234567"
                  "89012",
                  &err) == -1 &&
          strstr(err.msg, "quarantine"),
      "a sampler's name has up to 63 bytes: %s", err.msg);
    T(load_tensor("sampler.t", "U8", 2,
                  "0123456789012345678901234567890123456789012345678901234567"
                  "890123",
                  &err) == -1 &&
          strstr(err.msg, "names no sampler"),
      "a sampler's name of 64 bytes is refused: %s", err.msg);
}

static void
saved_samples_are_restored(void)
{
    struct err err = {""};
    const struct loss_objective *isogclr = loss_objective_find("isogclr", &err);
    struct train_samples out, in;
    struct batch batch = {.n_substituted = 1, .epoch = 2, .step = 3};
    int64_t pair[1][2] = {{3, 1}};

    train_samples_init(&out, isogclr, SIZE, 0, &run_state);
    train_samples_init(&in, isogclr, SIZE, 0, &run_state);
    for (size_t i = 0; i < SIZE * isogclr->columns; i++)
        out.column[i] = (float)i + 0.5f;
    batch.substituted = pair;
    train_samples_quarantine(&out, &batch);
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err),
      "saved and loaded %s", err.msg);
    T(!memcmp(in.column, out.column,
              SIZE * isogclr->columns * sizeof *in.column),
      "the columns");
    T(in.bad == 1 && in.quarantine[0][0] == 3 && in.quarantine[0][1] == 1,
      "the quarantine");
    T(in.quarantine[0][2] == 2 && in.quarantine[0][3] == 3,
      "the quarantine has epoch and step");
    out.column[0] = -1;
    train_samples_quarantine(&out, &batch);
    T(!train_samples_part(&out).revert(&out, ".", &err) &&
          out.column[0] == 0.5f && out.bad == 2,
      "revert does not change the quarantine %s", err.msg);
    train_samples_release(&in);
    train_samples_release(&out);
}

/* Columns of view 0 and of view 1, by the same ids. */
static void
each_side_has_columns(void)
{
    struct err err = {""};
    const struct loss_objective *o =
        loss_objective_find("sogclr_bimodal", &err);
    const struct batch batch = {.b = 2, .ids = (int64_t[]){3, 1}},
                       other = {.b = 2, .ids = (int64_t[]){1, 0}};
    const float mine[8] = {1, 1, 2, 1, 30, 1, 40, 1};
    struct train_samples out, in;
    struct nn_array *array;
    float state[8];
    size_t n;

    train_samples_init(&out, o, SIZE, 0, &run_state);
    train_samples_init(&in, o, SIZE, 0, &run_state);
    train_samples_put(&out, &batch, mine);
    train_samples_get(&out, &batch, state);
    T(!memcmp(state, mine, sizeof mine), "get returns what put has written");
    train_samples_get(&out, &other, state);
    T(state[0] == 2 && state[4] == 40 && state[2] == 0 && state[6] == 0,
      "each side by id");
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err) &&
          !memcmp(in.column, out.column, 2 * SIZE * 2 * sizeof *in.column),
      "saved and loaded %s", err.msg);
    T(!nn_arrays_read("samples.safetensors", &array, &n, NULL, &err) &&
          nn_arrays_find(array, n, "view0.log_u") &&
          nn_arrays_find(array, n, "view1.seen"),
      "the file names the side");
    nn_arrays_free(array, n);
    train_samples_release(&in);
    train_samples_release(&out);
}

/* A batch of samples 2 and 0, with these captions. */
static struct batch
batch_of(const int32_t which[2])
{
    static const int64_t ids[] = {2, 0};

    return (struct batch){.b = 2, .ids = ids, .captions = which};
}

/* Writes a different state for each caption of both samples: number k is
 * caption k of sample 2, and the k-th from the end of sample 0.  Returns the
 * number of wrong states. */
static size_t
visit_captions(struct train_samples *out, size_t captions)
{
    const size_t columns = out->objective->columns;
    float state[32], back[32];
    size_t wrong = 0;

    for (size_t k = 0; k < captions; k++) {
        const int32_t which[2] = {(int32_t)k, (int32_t)(captions - 1 - k)};
        const struct batch batch = batch_of(which);

        for (size_t i = 0; i < 4 * columns; i++)
            state[i] = (float)(100 * k + i + 1);
        train_samples_put(out, &batch, state);
        train_samples_get(out, &batch, back);
        wrong += memcmp(back, state, 4 * columns * sizeof *state) != 0;
    }
    for (size_t k = 0; k < captions; k++) {
        const size_t other = captions - 1 - k;
        const int32_t which[2] = {(int32_t)k, (int32_t)k};
        const struct batch batch = batch_of(which);

        train_samples_get(out, &batch, back);
        wrong += back[0] != (float)(100 * (captions - 1) + 1);
        wrong += back[2 * columns] != (float)(100 * k + 2 * columns + 1);
        wrong += back[3 * columns] != (float)(100 * other + 3 * columns + 1);
    }
    return wrong;
}

/* Returns 1 if the file has a row of captions for each sample in view 1. */
static int
has_caption_rows(const struct train_samples *out, size_t captions)
{
    const size_t columns = out->objective->columns;
    struct nn_array *array;
    const struct nn_array *one, *other;
    struct err err;
    size_t n;
    int is;

    if (nn_arrays_read("samples.safetensors", &array, &n, NULL, &err))
        return 0;
    one = nn_arrays_find(array, n, "view0.tau");
    other = nn_arrays_find(array, n, "view1.tau");
    is = one && one->rank == 1 && one->shape[0] == SIZE && other &&
         other->rank == 2 && other->shape[0] == SIZE &&
         other->shape[1] == captions &&
         ((const float *)other->data)[2 * captions] ==
             out->column[(SIZE + 2 * captions) * columns + 3];
    nn_arrays_free(array, n);
    return is;
}

/* The columns of view 1 belong to the caption; a sample has K of them. */
static void
each_caption_has_columns(size_t captions)
{
    struct err err = {""};
    const struct loss_objective *o =
        loss_objective_find("isogclr_bimodal", &err);
    const size_t columns = o->columns, rows = SIZE * (1 + captions);
    struct train_samples out, in, more;
    size_t changed = 0;

    REQUIRE(4 * columns <= 32);
    train_samples_init(&out, o, SIZE, captions, &run_state);
    train_samples_init(&in, o, SIZE, captions, &run_state);
    train_samples_init(&more, o, SIZE, captions + 1, &run_state);
    T(!visit_captions(&out, captions),
      "%zu captions: each has a state, and an image has one for all", captions);
    for (size_t r = 0; r < rows; r++)
        changed += memcmp(out.column + r * columns, o->initial,
                          columns * sizeof *out.column) != 0;
    T(changed == 2 + 2 * captions, "no other state has changed");
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err) &&
          !memcmp(in.column, out.column, rows * columns * sizeof *in.column),
      "%zu captions: saved and loaded %s", captions, err.msg);
    T(has_caption_rows(&out, captions),
      "%zu captions: the file has a row of them for each sample", captions);
    T(train_samples_load(&more, ".", &err) &&
          strstr(err.msg, "captions a sample, this run has up to"),
      "a file with another number of captions is refused: %s", err.msg);
    train_samples_release(&in);
    train_samples_release(&out);
    train_samples_release(&more);
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    saved_samples_are_restored();
    each_side_has_columns();
    for (size_t captions = 1; captions <= 8; captions += captions == 1 ? 2 : 5)
        each_caption_has_columns(captions);
    tables_are_restored();
    wrong_tables_are_refused();
    T(!remove("samples.safetensors") && !chdir("/") && !rmdir(scratch),
      "tidied up");
    return t_done();
}
