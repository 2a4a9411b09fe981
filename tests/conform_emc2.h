#ifndef TESTS_CONFORM_EMC2_H
#define TESTS_CONFORM_EMC2_H

/*
 * For tests/conformance.c: visits of EMC2 as the reference makes them, one
 * chain an image, its scores stale.  Columns are proposed in the order of the
 * batch, those of the own image among them but never accepted nor recorded;
 * recorded is from column P on.  step<i>.uniforms [view,column,image] are the
 * reference's.  Scores are in double here, so that no comparison goes another
 * way than there.
 */
#include "conform_loss.h"
#include "loss/emc2.h"
#include "sample/chains.h"

struct visits {
    size_t b, n, burn; /* images, rows, P */
    double beta;
    struct sample_chains chains;

    /* of one visit */
    double *s;       /* [n,n] beta times similarities */
    uint32_t *count; /* [n,n] */
    float *oob;      /* [n] */
    float accepted[2];

    /* of one row */
    uint32_t *column;
    double *luck;
};

/* The proposals of a row, but for the own image's; returns how many are not
 * recorded. */
static size_t
propose(struct visits *all, size_t row, const double *uniform)
{
    const size_t b = all->b, n = all->n;
    size_t length = 0, burn = 0;

    for (size_t c = 0; c < n; c++) {
        if (c % b == row % b)
            continue;
        all->column[length] = (uint32_t)c;
        all->luck[length++] = -log(uniform[(row / b * n + c) * b + row % b]);
        burn += c < all->burn;
    }
    return burn;
}

/* Take an image's chain through the rows of both its views. */
static void
visit_image(struct visits *all, size_t i, const double *uniform,
            struct sample_state *state, float *score, const int64_t *ids)
{
    const size_t b = all->b, n = all->n, length = n - 2;
    struct sample_chain chain = {SAMPLE_OUTSIDE, score[i], 0};

    for (size_t row = i; row < n; row += b) {
        const size_t burn = propose(all, row, uniform);
        const double *s = all->s + row * n;
        size_t before;

        sample_scan(burn, all->column, all->luck, s, &chain, NULL);
        before = chain.accepted;
        all->oob[row] = (float)sample_scan(length - burn, all->column + burn,
                                           all->luck + burn, s, &chain,
                                           all->count + row * n);
        all->accepted[row / b] += (float)(chain.accepted - before);
    }
    for (size_t row = i; row < n; row += b) {
        if (chain.at != SAMPLE_OUTSIDE)
            state[row] = (struct sample_state){ids[(size_t)chain.at % b],
                                               chain.at / (long)b};
        score[row] = (float)chain.score;
    }
}

/* The images that chains stand at: "step<step>.<what>", [N]. */
static int
compare_states(struct file *file, const struct visits *all, size_t step,
               const char *what, struct err *err)
{
    const struct nn_array *a;
    size_t wrong = 0;
    char name[64];

    snprintf(name, sizeof name, "step%zu.%s", step, what);
    a = array_get(file, "I64", name, err);
    if (!a)
        return -1;
    if (a->count != all->chains.size)
        return err_set(err, "'%s' has not N numbers", name);
    for (size_t i = 0; i < a->count; i++)
        wrong += ((const int64_t *)a->data)[i] != all->chains.state[2 * i].id;
    note(file, what, (double)wrong / (double)a->count, RELATIVE);
    return 0;
}

static int
compare_visit(struct file *file, struct visits *all, size_t step,
              struct err *err)
{
    const size_t size = all->chains.size, n = all->n;
    float *x = mem_array(n * n + size, sizeof *x);
    int rc;

    for (size_t v = 0; v < 2; v++)
        all->accepted[v] /= (float)((n - all->burn) * all->b);
    for (size_t i = 0; i < n * n; i++)
        x[i] = (float)all->count[i];
    for (size_t i = 0; i < size; i++)
        x[n * n + i] = expf(all->chains.score[2 * i]);
    rc = compare(file, step, "counts", n * n, x, err) ||
         compare(file, step, "oob_counts", n, all->oob, err) ||
         compare(file, step, "score_after", size, x + n * n, err) ||
         compare(file, step, "acceptance", 2, all->accepted, err) ||
         compare_states(file, all, step, "state_after", err);
    free(x);
    return rc ? -1 : 0;
}

/* The gradient that the counts make. */
static int
compare_gradient(struct file *file, const struct visits *all, size_t step,
                 size_t d, const float *z, struct err *err)
{
    const size_t b = all->b, n = all->n;
    const struct steps how = {.objective = &loss_emc2,
                              .param = {.tau = 1 / all->beta}};
    struct loss_batch batch = {.b = b, .d = d};
    struct loss_report report;
    float *dz = mem_array(n * d, sizeof *dz), value;
    float *w = mem_array(n * n, sizeof *w);
    int rc;

    for (size_t i = 0; i < n * n; i++)
        w[i] = (float)all->count[i] / (float)(n - 2 - all->burn);
    batch.weights = w;
    gradient(&how, &batch, 1, z, NULL, dz, &report);
    value = (float)report.value;
    rc = compare(file, step, "loss", 1, &value, err) ||
         compare(file, step, "grad_z1", b * d, dz, err) ||
         compare(file, step, "grad_z2", b * d, dz + b * d, err);
    free(dz);
    free(w);
    return rc ? -1 : 0;
}

/* beta S of a step, from its double precision. */
static void
scores(struct visits *all, const struct file *file, size_t step, size_t d)
{
    const size_t half = all->b * d;
    double *z = mem_array(2 * half, sizeof *z);

    for (size_t v = 0; v < 2; v++) {
        char name[64];

        snprintf(name, sizeof name, "step%zu.z%zu", step, v + 1);
        memcpy(z + v * half, nn_arrays_find(file->array, file->n, name)->data,
               half * sizeof *z);
    }
    num_dgemm_nt(all->n, all->n, d, all->beta, z, z, 0, all->s);
    free(z);
}

/* The ids of a step's images, each below N. */
static const int64_t *
ids_get(const struct file *file, const struct visits *all, size_t step,
        struct err *err)
{
    const struct nn_array *a;
    const int64_t *ids;
    char name[64];

    snprintf(name, sizeof name, "step%zu.index", step);
    a = array_get(file, "I64", name, err);
    ids = a && a->count == all->b ? a->data : NULL;
    for (size_t i = 0; ids && i < all->b; i++)
        if (ids[i] < 0 || (uint64_t)ids[i] >= all->chains.size)
            ids = NULL;
    if (a && !ids)
        err_set(err, "'%s' is not b samples below N", name);
    return ids;
}

static void
visit(struct visits *all, const double *uniform, const int64_t *ids)
{
    struct sample_state *state = mem_array(all->n, sizeof *state);
    float *score = mem_array(all->n, sizeof *score);

    memset(all->count, 0, all->n * all->n * sizeof *all->count);
    memset(all->accepted, 0, sizeof all->accepted);
    sample_chains_get(&all->chains, 2, all->b, ids, NULL, state, score);
    for (size_t i = 0; i < all->b; i++)
        visit_image(all, i, uniform, state, score, ids);
    sample_chains_put(&all->chains, 2, all->b, ids, NULL, state, score);
    free(state);
    free(score);
}

static int
emc2_step(struct file *file, struct visits *all, size_t step, struct err *err)
{
    const struct nn_array *uniform;
    const int64_t *ids = ids_get(file, all, step, err);
    float *z;
    size_t b, d;
    char name[64];
    int rc;

    snprintf(name, sizeof name, "step%zu.uniforms", step);
    uniform = array_get(file, "F64", name, err);
    if (!ids || !uniform)
        return -1;
    z = rows_get(file, step, &b, &d, err);
    if (!z)
        return -1;
    if (b != all->b || uniform->count != 2 * all->n * b) {
        rc = err_set(err, "step %zu does not have b images", step);
    } else {
        scores(all, file, step, d);
        rc = compare_states(file, all, step, "state_before", err);
        visit(all, uniform->data, ids);
        rc = rc || compare_visit(file, all, step, err) ||
             compare_gradient(file, all, step, d, z, err);
    }
    free(z);
    return rc ? -1 : 0;
}

static int
visits_init(struct visits *all, double b, double burn, double samples,
            double beta, struct err *err)
{
    if (!(b >= 2 && b <= 4096) || !(burn >= 0 && burn < 2 * b - 2) ||
        !(samples >= b && samples < 1e9) || !(beta > 0))
        return err_set(err, "metadata: b, P, N or beta are out of range");
    *all = (struct visits){
        .b = (size_t)b, .n = 2 * (size_t)b, .burn = (size_t)burn, .beta = beta};
    all->s = mem_array(all->n * all->n, sizeof *all->s);
    all->count = mem_array(all->n * all->n, sizeof *all->count);
    all->oob = mem_array(all->n, sizeof *all->oob);
    all->column = mem_array(all->n, sizeof *all->column);
    all->luck = mem_array(all->n, sizeof *all->luck);
    sample_chains_init(&all->chains, (size_t)samples, 2);
    return 0;
}

static void
visits_release(struct visits *all)
{
    free(all->s);
    free(all->count);
    free(all->oob);
    free(all->column);
    free(all->luck);
    sample_chains_release(&all->chains);
}

static inline int
emc2(struct file *file, const char *name, struct err *err)
{
    double b, burn, samples, beta, steps;
    struct visits all;
    int rc = 0;

    (void)name;
    if (real_get(file, "b", &b, err) || real_get(file, "P", &burn, err) ||
        real_get(file, "N", &samples, err) ||
        real_get(file, "beta", &beta, err) ||
        real_get(file, "steps", &steps, err) ||
        visits_init(&all, b, burn, samples, beta, err))
        return -1;
    for (size_t step = 0; !rc && (double)step < steps; step++)
        rc = emc2_step(file, &all, step, err);
    visits_release(&all);
    return rc;
}

#endif
