#include <string.h>

#include "child.h"
#include "nn/safetensors.h"
#include "t.h"
#include "train/samples.h"

enum { SIZE = 4 };

static const struct train_state reached = {.total = 114};

/* Reads what is in samples.safetensors. */
static int
load(struct err *err)
{
    struct train_samples samples;
    int rc;

    train_samples_init(&samples, loss_objective_find("emc2", err), SIZE,
                       &reached);
    rc = train_samples_load(&samples, ".", err);
    train_samples_release(&samples);
    return rc;
}

/* Writes a tensor as all of a samples.safetensors; what reading says of it. */
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

/* The tables of a sampler, of which nothing else is known. */
static void
tables_come_back(void)
{
    static const uint8_t bytes[] = "abcdefgh";
    const struct sample_rows rows[] = {
        {.name = "t", .rows = 4, .width = 2, .n = 4, .row = bytes},
        {.name = "u.v", .rows = 1, .width = 8, .n = 1, .row = bytes},
    };
    struct err err = {""};
    const struct loss_objective *emc2 = loss_objective_find("emc2", &err);
    struct train_samples out, in;
    struct nn_array *array = NULL;
    json_t *about = NULL;
    size_t n = 0;

    train_samples_init(&out, emc2, SIZE, &reached);
    train_samples_init(&in, emc2, SIZE, &reached);
    sample_store_write(&out.store, "sampler of mine 3", 2, rows);
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err),
      "a sampler's tables are saved and loaded %s", err.msg);
    T(in.store.n == 2 && !strcmp(in.store.sampler, "sampler of mine 3") &&
          !strcmp(in.store.table[1].name, "u.v") &&
          in.store.table[0].rows == 4 && in.store.table[0].width == 2 &&
          !memcmp(in.store.table[0].bytes, bytes, 8) &&
          !memcmp(in.store.table[1].bytes, bytes, 8),
      "as they were");
    T(!nn_arrays_read("samples.safetensors", &array, &n, &about, &err) &&
          nn_arrays_find(array, n, "sampler.t") &&
          !strcmp(json_string_value(json_object_get(about, "total")), "114"),
      "the file names the steps that are trained");
    nn_arrays_free(array, n);
    json_decref(about);
    in.store.table[0].bytes[0] = 'z';
    T(!train_samples_revert(&in, ".", &err) &&
          in.store.table[0].bytes[0] == 'a',
      "going back brings them back, too %s", err.msg);
    train_samples_release(&in);
    train_samples_release(&out);
}

static void
what_is_no_table_is_refused(void)
{
    struct err err;

    T(load_tensor("chain", "I64", 2, NULL, &err) == -1 &&
          strstr(err.msg, "before version 2 of the protocol"),
      "a file of an earlier foil: %s", err.msg);
    T(load_tensor("sampler.t", "I64", 2, "x", &err) == -1 &&
          strstr(err.msg, "'sampler.t' is no table"),
      "one of another type: %s", err.msg);
    T(load_tensor("sampler.t", "U8", 1, "x", &err) == -1 &&
          strstr(err.msg, "'sampler.t' is no table"),
      "one of another rank: %s", err.msg);
    T(load_tensor("sampler.", "U8", 2, "x", &err) == -1 &&
          strstr(err.msg, "name has 0 bytes"),
      "one without a name: %s", err.msg);
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
      "and no more: %s", err.msg);
}

static void
what_is_saved_comes_back(void)
{
    struct err err = {""};
    const struct loss_objective *isogclr = loss_objective_find("isogclr", &err);
    struct train_samples out, in;
    struct train_batch batch = {.n_substituted = 1, .epoch = 2, .step = 3};
    int64_t pair[1][2] = {{3, 1}};

    train_samples_init(&out, isogclr, SIZE, &reached);
    train_samples_init(&in, isogclr, SIZE, &reached);
    for (size_t i = 0; i < SIZE * isogclr->columns; i++)
        out.column[i] = (float)i + 0.5f;
    batch.substituted = pair;
    train_samples_refuse(&out, &batch);
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err),
      "saved and loaded %s", err.msg);
    T(!memcmp(in.column, out.column,
              SIZE * isogclr->columns * sizeof *in.column),
      "the columns");
    T(in.bad == 1 && in.quarantine[0][0] == 3 && in.quarantine[0][1] == 1,
      "the quarantine");
    T(in.quarantine[0][2] == 2 && in.quarantine[0][3] == 3, "and when it was");
    out.column[0] = -1;
    train_samples_refuse(&out, &batch);
    T(!train_samples_revert(&out, ".", &err) && out.column[0] == 0.5f &&
          out.bad == 2,
      "going back keeps the quarantine %s", err.msg);
    train_samples_release(&in);
    train_samples_release(&out);
}

/* Two tables, by the same ids: view 0's and view 1's. */
static void
sides_have_columns_each(void)
{
    struct err err = {""};
    const struct loss_objective *o =
        loss_objective_find("sogclr_bimodal", &err);
    const int64_t ids[] = {3, 1};
    const float mine[8] = {1, 1, 2, 1, 30, 1, 40, 1};
    struct train_samples out, in;
    struct nn_array *array;
    float state[8];
    size_t n;

    train_samples_init(&out, o, SIZE, &reached);
    train_samples_init(&in, o, SIZE, &reached);
    train_samples_put(&out, 2, ids, mine);
    train_samples_get(&out, 2, ids, state);
    T(!memcmp(state, mine, sizeof mine), "what is put is got");
    train_samples_get(&out, 2, (int64_t[]){1, 0}, state);
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

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    what_is_saved_comes_back();
    sides_have_columns_each();
    tables_come_back();
    what_is_no_table_is_refused();
    T(!remove("samples.safetensors") && !chdir("/") && !rmdir(scratch),
      "tidied up");
    return t_done();
}
