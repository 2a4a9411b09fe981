#include <string.h>

#include "child.h"
#include "nn/safetensors.h"
#include "t.h"
#include "train/samples.h"

enum { SIZE = 4 };

/* Writes the tensor as all of a samples.safetensors; what reading says of it.
 */
static int
load(const char *dtype, struct err *err)
{
    const struct loss_objective *emc2 = loss_objective_find("emc2", err);
    struct train_samples samples;
    struct nn_array array;
    int rc;

    nn_array_init(&array, "chain", dtype, 1, (size_t[]){SIZE}, NULL);
    rc = nn_arrays_write("samples.safetensors", &array, 1, NULL, err);
    T(!rc, "a tensor of type %s", dtype);
    free(array.name);
    free(array.data);
    train_samples_init(&samples, emc2, SIZE);
    rc = train_samples_load(&samples, ".", err);
    train_samples_release(&samples);
    return rc;
}

static void
what_is_saved_comes_back(void)
{
    struct err err = {""};
    const struct loss_objective *isogclr = loss_objective_find("isogclr", &err);
    struct train_samples out, in;
    struct train_batch batch = {.n_substituted = 1, .epoch = 2, .step = 3};
    int64_t pair[1][2] = {{3, 1}};

    train_samples_init(&out, isogclr, SIZE);
    train_samples_init(&in, isogclr, SIZE);
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

    train_samples_init(&out, o, SIZE);
    train_samples_init(&in, o, SIZE);
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
    static const char *const foreign[] = {"BOOL", "I8",  "I16",
                                          "U16",  "U32", "U64"};
    char scratch[256];
    struct err err;

    child_scratch(scratch);
    what_is_saved_comes_back();
    sides_have_columns_each();
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        T(load(foreign[i], &err) == -1 && strstr(err.msg, foreign[i]) &&
              strstr(err.msg, "'chain'"),
          "is refused: %s", err.msg);
    T(load("F16", &err) == -1, "one that messages have is not: %s", err.msg);
    T(!remove("samples.safetensors") && !chdir("/") && !rmdir(scratch),
      "tidied up");
    return t_done();
}
