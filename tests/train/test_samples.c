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

    train_samples_init(&samples, loss_objective_find("emc2", err), SIZE, 0,
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

    train_samples_init(&out, emc2, SIZE, 0, &reached);
    train_samples_init(&in, emc2, SIZE, 0, &reached);
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
    struct batch batch = {.n_substituted = 1, .epoch = 2, .step = 3};
    int64_t pair[1][2] = {{3, 1}};

    train_samples_init(&out, isogclr, SIZE, 0, &reached);
    train_samples_init(&in, isogclr, SIZE, 0, &reached);
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
    const struct batch batch = {.b = 2, .ids = (int64_t[]){3, 1}},
                       other = {.b = 2, .ids = (int64_t[]){1, 0}};
    const float mine[8] = {1, 1, 2, 1, 30, 1, 40, 1};
    struct train_samples out, in;
    struct nn_array *array;
    float state[8];
    size_t n;

    train_samples_init(&out, o, SIZE, 0, &reached);
    train_samples_init(&in, o, SIZE, 0, &reached);
    train_samples_put(&out, &batch, mine);
    train_samples_get(&out, &batch, state);
    T(!memcmp(state, mine, sizeof mine), "what is put is got");
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

/* Samples 2 and 0, with these captions. */
static struct batch
told(const int32_t which[2])
{
    static const int64_t ids[] = {2, 0};

    return (struct batch){.b = 2, .ids = ids, .captions = which};
}

/* Every caption of both is visited once, with a state of its own: number k is
 * caption k of sample 2, and that many from the last of sample 0.  Returns how
 * often what is got is not what was put. */
static size_t
visit_captions(struct train_samples *out, size_t captions)
{
    const size_t columns = out->objective->columns;
    float state[32], back[32];
    size_t wrong = 0;

    for (size_t k = 0; k < captions; k++) {
        const int32_t which[2] = {(int32_t)k, (int32_t)(captions - 1 - k)};
        const struct batch batch = told(which);

        for (size_t i = 0; i < 4 * columns; i++)
            state[i] = (float)(100 * k + i + 1);
        train_samples_put(out, &batch, state);
        train_samples_get(out, &batch, back);
        wrong += memcmp(back, state, 4 * columns * sizeof *state) != 0;
    }
    for (size_t k = 0; k < captions; k++) {
        const size_t other = captions - 1 - k;
        const int32_t which[2] = {(int32_t)k, (int32_t)k};
        const struct batch batch = told(which);

        train_samples_get(out, &batch, back);
        wrong += back[0] != (float)(100 * (captions - 1) + 1);
        wrong += back[2 * columns] != (float)(100 * k + 2 * columns + 1);
        wrong += back[3 * columns] != (float)(100 * other + 3 * columns + 1);
    }
    return wrong;
}

/* What the file says of view 1 is a row of captions for each sample. */
static int
is_listed(const struct train_samples *out, size_t captions)
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

/* The columns of view 1 belong to the caption, of which a sample has K. */
static void
captions_have_columns_each(size_t captions)
{
    struct err err = {""};
    const struct loss_objective *o =
        loss_objective_find("isogclr_bimodal", &err);
    const size_t columns = o->columns, rows = SIZE * (1 + captions);
    struct train_samples out, in, more;
    size_t touched = 0;

    REQUIRE(4 * columns <= 32);
    train_samples_init(&out, o, SIZE, captions, &reached);
    train_samples_init(&in, o, SIZE, captions, &reached);
    train_samples_init(&more, o, SIZE, captions + 1, &reached);
    T(!visit_captions(&out, captions),
      "%zu captions: each has a state, an image one for all of them", captions);
    for (size_t r = 0; r < rows; r++)
        touched += memcmp(out.column + r * columns, o->initial,
                          columns * sizeof *out.column) != 0;
    T(touched == 2 + 2 * captions, "no other state has moved");
    T(!train_samples_save(&out, ".", &err) &&
          !train_samples_load(&in, ".", &err) &&
          !memcmp(in.column, out.column, rows * columns * sizeof *in.column),
      "%zu captions: saved and loaded %s", captions, err.msg);
    T(is_listed(&out, captions),
      "%zu captions: the file says how many, row of a sample after row",
      captions);
    T(train_samples_load(&more, ".", &err) &&
          strstr(err.msg, "captions a sample, this run has up to"),
      "a file of others is refused: %s", err.msg);
    train_samples_release(&in);
    train_samples_release(&out);
    train_samples_release(&more);
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    what_is_saved_comes_back();
    sides_have_columns_each();
    for (size_t captions = 1; captions <= 8; captions += captions == 1 ? 2 : 5)
        captions_have_columns_each(captions);
    tables_come_back();
    what_is_no_table_is_refused();
    T(!remove("samples.safetensors") && !chdir("/") && !rmdir(scratch),
      "tidied up");
    return t_done();
}
