#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "loss/objective.h"
#include "t.h"
#include "train/objective.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 20, B = 6, D = 7, ROWS = 2 * B };

/* Rows, and weights of negatives whose rows sum to 1. */
struct example {
    int64_t ids[B];
    float z[ROWS * D], weights[ROWS * ROWS];
};

static void
make_example(struct example *e, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < B; i++)
        e->ids[i] = (int64_t)((seed * 7 + (uint64_t)i * 3) % N);
    for (int i = 0; i < ROWS * D; i++)
        e->z[i] = (float)rng_normal(&rng);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < ROWS; c++)
            // none for the row, its partner, or rows of the same view
            e->weights[r * ROWS + c] =
                c % B != r % B && (c < B) != (r < B) ? 1.f / (B - 1) : 0;
}

static struct train_objective_batch
batch_of(const struct loss_objective *row, const struct example *e)
{
    return (struct train_objective_batch){
        .b = B,
        .dim = D,
        .ids = e->ids,
        .z = e->z,
        .weights = row->needs_weights ? e->weights : NULL};
}

/* Copies the state of a batch from or to a table [sides,N,columns]. */
static void
copy_state(const struct loss_objective *row, const struct example *e,
           float *table, float *state, int put)
{
    const size_t columns = row->columns, states = loss_objective_states(row, B);

    for (size_t r = 0; r < states; r++) {
        float *at = table + (r / B * N + (size_t)e->ids[r % B]) * columns,
              *row_of = state + r * columns;

        memcpy(put ? at : row_of, put ? row_of : at, columns * sizeof *at);
    }
}

static int
same_columns(const struct train_objective *o, const struct loss_objective *row,
             const float *table)
{
    const size_t columns = row->columns, sides = row->sides ? 2 : 1;
    float column[N];
    const char *name;
    size_t i = 0, count;
    int same = 1;

    for (; train_objective_column(o, i, &name, &count, column); i++)
        for (size_t r = 0; r < N; r++)
            same &= count == N && !strcmp(name, row->column[i % columns]) &&
                    column[r] ==
                        table[(i / columns * N + r) * columns + i % columns];
    return same && i == sides * columns;
}

/* Five steps, as the objective itself takes them. */
static void
check_steps(const struct loss_objective *row)
{
    struct loss_settings settings = loss_settings_of(row);
    const struct loss_batch shape = {.b = B, .dim = D};
    float *work = mem_aligned(loss_objective_size(row, &shape), sizeof *work),
          *table = mem_array(2 * N * (row->columns + 1), sizeof *table),
          *state = mem_array(2 * B * (row->columns + 1), sizeof *state);
    float dz[ROWS * D], want[ROWS * D];
    struct err err = {""};
    struct train_objective *o =
        train_objective_open(row->name, NULL, N, 0, &err);
    int same = o != NULL;

    for (size_t i = 0; i < 2 * N * row->columns; i++)
        table[i] = row->initial[i % row->columns];
    for (uint64_t k = 0; same && k < 5; k++) {
        struct loss_report report = {0};
        struct example e;
        struct train_objective_batch batch;
        struct loss_batch of = shape;
        double value;

        make_example(&e, k);
        batch = batch_of(row, &e);
        of.weights = batch.weights;
        copy_state(row, &e, table, state, 0);
        loss_objective_run(row, &settings, &of, e.z, state, want, work,
                           &report);
        copy_state(row, &e, table, state, 1);
        same &= !train_objective_step(o, &batch, dz, &value, &err) &&
                value == report.value && !memcmp(dz, want, sizeof dz) &&
                same_columns(o, row, table);
    }
    T(same, "%s: value, gradient and state after five steps: %s", row->name,
      err.msg);
    train_objective_close(o);
    free(work);
    free(table);
    free(state);
}

static void
all_of_them(void)
{
    struct err err;
    const char *name;
    size_t n = 0;

    for (; (name = train_objective_name(n)); n++)
        check_steps(loss_objective_find(name, &err));
    T(n >= 21 && !train_objective_name(n + 1), "there are %zu", n);
}

static void
state_is_saved_and_loaded(void)
{
    struct err err = {""};
    const struct loss_objective *row = loss_objective_find("isogclr", &err);
    struct train_objective *a = train_objective_open("isogclr", "", N, 0, &err),
                           *b = train_objective_open("isogclr", "", N, 0, &err);
    float da[ROWS * D], db[ROWS * D];
    double x = 0, y = 1;
    struct example e;
    struct train_objective_batch batch;

    make_example(&e, 3);
    batch = batch_of(row, &e);
    batch.look = 1;
    train_objective_step(a, &batch, da, &x, &err);
    train_objective_step(a, &batch, da, &y, &err);
    T(x == y, "`look` changes no state");
    batch.look = 0;
    train_objective_step(a, &batch, da, &x, &err);
    T(!train_objective_save(a, ".", &err) &&
          !train_objective_load(b, ".", &err),
      "state is written and read: %s", err.msg);
    train_objective_step(a, &batch, da, &x, &err);
    train_objective_step(b, &batch, db, &y, &err);
    T(x == y && !memcmp(da, db, sizeof da),
      "the next loss after loading is the same");
    train_objective_close(b);
    b = train_objective_open("sogclr", "", N, 0, &err);
    T(!train_objective_save(b, ".", &err) &&
          train_objective_load(a, ".", &err) == -1 &&
          strstr(err.msg, "'momentum'"),
      "a file that lacks a column is refused: %s", err.msg);
    train_objective_close(a);
    a = train_objective_open("sogclr", "", N + 1, 0, &err);
    T(train_objective_load(a, ".", &err) == -1 && strstr(err.msg, "shape"),
      "a file with another number of samples is refused: %s", err.msg);
    train_objective_close(a);
    train_objective_close(b);
}

static void
parameters_can_be_set(void)
{
    struct err err = {""};
    struct train_objective *o = train_objective_open("clip", "", 0, 0, &err);
    const struct loss_objective *row = loss_objective_find("clip", &err);
    double value = 0, again = 0, x = 0, slope = 0, low, high;
    const double h = 1e-3;
    float dz[ROWS * D];
    const char *name = "";
    struct example e;
    struct train_objective_batch batch;

    make_example(&e, 1);
    batch = batch_of(row, &e);
    train_objective_step(o, &batch, dz, &value, &err);
    T(train_objective_scalar(o, 0, &name, &x, &slope) &&
          !strcmp(name, "logit_scale"),
      "clip learns its temperature");
    train_objective_set(o, name, x + h, &err);
    train_objective_step(o, &batch, dz, &high, &err);
    train_objective_set(o, name, x - h, &err);
    train_objective_step(o, &batch, dz, &low, &err);
    T(fabs((high - low) / (2 * h) - slope) < 1e-3 * fabs(slope) + 1e-6,
      "by the slope of the loss: %g, %g", (high - low) / (2 * h), slope);
    T(!train_objective_set(o, name, 1e9, &err) &&
          train_objective_scalar(o, 0, &name, &x, &slope) && x < 5,
      "within its bounds");
    train_objective_close(o);

    o = train_objective_open("simclr", "{\"tau\": 0.2}", 0, 0, &err);
    T(!train_objective_step(o, &batch, dz, &value, &err) &&
          !train_objective_set(o, "tau", 0.4, &err) &&
          !train_objective_step(o, &batch, dz, &again, &err) && value != again,
      "a parameter may be set between steps");
    T(train_objective_set(o, "tau", -1, &err) == -1 &&
          !train_objective_step(o, &batch, dz, &value, &err) && value == again,
      "a value out of range is refused and changes nothing: %s", err.msg);
    T(train_objective_metric(o, 0, &name, &x) && !strcmp(name, "infonce") &&
          fabs(x - value) < 1e-5 * value,
      "InfoNCE is the loss of simclr");
    train_objective_close(o);
}

/* Returns 1 if opening fails with that sentence. */
static int
refused(const char *name, const char *params, size_t n, const char *why)
{
    struct err err = {""};
    struct train_objective *o = train_objective_open(name, params, n, 0, &err);
    const int is = !o && strstr(err.msg, why);

    printf("# %s\n", err.msg);
    train_objective_close(o);
    return is;
}

static void
mistakes_in_opening(void)
{
    T(refused("nothing", NULL, N, "nothing"), "no such objective");
    T(refused("sogclr", NULL, 0, "n must be at least"), "no number of samples");
    T(refused("sogclr", NULL, SIZE_MAX / 4, "too many"), "too many samples");
    T(refused("simclr", "{\"rho\": 1}", N, "no parameter 'rho'"),
      "no such parameter");
    T(refused("simclr", "{\"tau\": \"x\"}", N, "tau: want a number"),
      "a word for a number");
    T(refused("simclr", "{\"tau\": 0}", N, "tau"), "out of range");
    T(refused("simclr", "[]", N, "parameters"), "no object");
}

/* Returns 1 if a step of that batch fails with that sentence. */
static int
step_refused(const char *name, struct train_objective_batch batch,
             const char *why)
{
    struct err err = {""};
    struct train_objective *o = train_objective_open(name, NULL, N, 0, &err);
    float dz[ROWS * D];
    double value;
    const int is = train_objective_step(o, &batch, dz, &value, &err) == -1 &&
                   strstr(err.msg, why);

    printf("# %s\n", err.msg);
    train_objective_close(o);
    return is;
}

static void
mistakes_in_a_batch(void)
{
    struct err err;
    const struct loss_objective *row = loss_objective_find("sogclr", &err);
    struct example e;
    struct train_objective_batch batch;

    make_example(&e, 2);
    batch = batch_of(row, &e);
    e.ids[2] = N;
    T(step_refused("sogclr", batch, "want 0 .. 19"), "an id beyond n");
    e.ids[2] = -1;
    T(step_refused("sogclr", batch, "from -1"), "one below 0");
    e.ids[2] = e.ids[1];
    T(step_refused("sogclr", batch, "occurs twice"), "a sample twice");
    batch.ids = NULL;
    T(step_refused("sogclr", batch, "ids"), "no ids");
    batch = batch_of(row, &e);
    batch.weights = e.weights;
    T(step_refused("simclr", batch, "takes none"),
      "weights for an objective without weights");
    batch.weights = NULL;
    T(step_refused("emc2", batch, "needs some"),
      "no weights for an objective that needs them");
    batch.views = 3;
    batch.positive_views = 1;
    T(step_refused("simclr", batch, "want 2 to 64"), "one positive view");
    batch.positive_views = 0;
    T(step_refused("simco", batch, "needs 2 views"), "three views of pairs");
    batch.views = 0;
    batch.b = 1;
    T(step_refused("simclr", batch, "at least 2"), "one sample");
    batch.b = SIZE_MAX;
    T(step_refused("simclr", batch, "at least 2"), "too many");
}

static void
nonfinite_embeddings_change_nothing(void)
{
    struct err err = {""};
    const struct loss_objective *row = loss_objective_find("sogclr", &err);
    struct train_objective *o = train_objective_open("sogclr", "", N, 0, &err);
    float dz[ROWS * D], column[N];
    struct example e;
    struct train_objective_batch batch;
    const char *name;
    size_t count;
    double value;
    int same = 1;

    make_example(&e, 2);
    batch = batch_of(row, &e);
    e.z[3] = NAN;
    T(train_objective_step(o, &batch, dz, &value, &err) == 1,
      "embeddings that are not finite: 1");
    train_objective_column(o, 0, &name, &count, column);
    for (int i = 0; i < N; i++)
        same &= column[i] == row->initial[0];
    T(same, "embeddings that are not finite change no state");
    train_objective_close(o);
}

int
main(void)
{
    char scratch[256];

    child_scratch(scratch);
    all_of_them();
    state_is_saved_and_loaded();
    parameters_can_be_set();
    mistakes_in_opening();
    mistakes_in_a_batch();
    nonfinite_embeddings_change_nothing();
    T(!remove("samples.safetensors") && !chdir("/") && !rmdir(scratch),
      "tidied up");
    return t_done();
}
