#pragma once

/*
 * For tests/conformance.c: visits of EMC2 as the reference makes them:
 * sample_emc2() with one chain an image and stale scores, as plain_visit()
 * defines it.  The reference's chances come with the file, step<i>.uniforms
 * [view,column,image].
 *
 * The reference records from column P on and counts the columns of the own
 * image, which it never accepts, among them.  So rows burn in for P proposals,
 * or fewer where columns of their own image are below P: what is recorded then
 * comes from a visit with that burn-in; the chains move alike in all of them.
 */
#include "conform_loss.h"
#include "loss/objectives.h"
#include "num/gemm.h"
#include "sample/chains_put.h"
#include "sample/plain_scan.h"

struct visits {
    size_t b, n, burn; /* images, rows, P */
    double beta;
    struct sample_chains chains;

    /* of one visit */
    float *s;           /* [n,n] similarities */
    double *luck;       /* [n,n-2] */
    float *count, *oob; /* [n,n], [n] */
    double accepted;    /* share of all proposals */
};

/* How many proposals of a row are not recorded. */
static size_t
burn_of(const struct visits *all, size_t row)
{
    size_t burn = 0;

    for (size_t c = 0; c < all->burn; c++)
        burn += c % all->b != row % all->b;
    return burn;
}

/* The luck of the proposals, in the order in which they are made. */
static void
luck_get(struct visits *all, const double *uniform)
{
    const size_t b = all->b, n = all->n;
    double *luck = all->luck;

    for (size_t row = 0; row < n; row++)
        for (size_t c = 0; c < n; c++)
            if (c % b != row % b)
                *luck++ = -log(uniform[(row / b * n + c) * b + row % b]);
}

/* From the weights of a visit back to counts, for the rows of this burn-in. */
static void
counts_get(struct visits *all, size_t burn, const float *w)
{
    const size_t n = all->n, kept = n - 2 - burn;

    for (size_t row = 0; row < n; row++) {
        float *count = all->count + row * n;

        if (burn_of(all, row) != burn)
            continue;
        all->oob[row] = (float)kept;
        for (size_t c = 0; c < n; c++) {
            count[c] = roundf(w[row * n + c] * (float)kept);
            all->oob[row] -= count[c];
        }
    }
}

/* Move the chains of these images. */
static void
visit(struct visits *all, const int64_t *ids)
{
    const size_t n = all->n;
    const struct batch batch = {
        .beta = all->beta, .v = 2, .b = all->b, .ids = ids};
    struct sample_state *state = mem_array(n, sizeof *state);
    float *score = mem_array(n, sizeof *score);
    float *w = mem_array(n * n, sizeof *w);

    for (size_t own = 0; own <= 2 && own <= all->burn; own++) {
        const struct sample_emc2_settings how = {.proposals = SAMPLE_ALL4,
                                                 .scores = SAMPLE_STALE,
                                                 .burn = all->burn - own};

        sample_chains_get(&all->chains, 2, all->b, ids, NULL, state, score);
        all->accepted =
            plain_visit(&how, &batch, all->s, all->luck, state, score, w);
        counts_get(all, how.burn, w);
    }
    chains_put(&all->chains, 2, all->b, ids, NULL, state, score);
    free(state);
    free(score);
    free(w);
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

/* The mean of "step<step>.acceptance" [view].  The reference leaves what is
 * accepted during the burn-in out, so only without one. */
static int
compare_acceptance(struct file *file, const struct visits *all, size_t step,
                   struct err *err)
{
    const double n = (double)all->n;
    const struct nn_array *a;
    const double *want;
    char name[64];

    if (all->burn)
        return 0;
    snprintf(name, sizeof name, "step%zu.acceptance", step);
    a = array_get(file, "F64", name, err);
    if (!a)
        return -1;
    if (a->count != 2)
        return err_set(err, "'%s' does not have 2 numbers", name);
    want = a->data; // of all columns, the own ones as well
    note(file, "acceptance",
         fabs(2 * all->accepted * (n - 2) / n / (want[0] + want[1]) - 1),
         RELATIVE);
    return 0;
}

static int
compare_visit(struct file *file, struct visits *all, size_t step,
              struct err *err)
{
    const size_t size = all->chains.size, n = all->n;
    float *x = mem_array(size, sizeof *x);
    int rc;

    for (size_t i = 0; i < size; i++)
        x[i] = expf(all->chains.score[2 * i]);
    rc = compare(file, step, "counts", n * n, all->count, err) ||
         compare(file, step, "oob_counts", n, all->oob, err) ||
         compare(file, step, "score_after", size, x, err) ||
         compare_acceptance(file, all, step, err) ||
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
                              .set = {{1 / all->beta}, 0}};
    struct loss_batch batch = {.b = b, .dim = d};
    struct loss_report report;
    float *dz = mem_array(n * d, sizeof *dz), value;
    float *w = mem_array(n * n, sizeof *w);
    int rc;

    for (size_t i = 0; i < n * n; i++)
        w[i] = all->count[i] / (float)(n - 2 - all->burn);
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
        num_gemm_nt(all->n, all->n, d, 1, z, z, 0, all->s);
        luck_get(all, uniform->data);
        rc = compare_states(file, all, step, "state_before", err);
        visit(all, ids);
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
    all->luck = mem_array(all->n * (all->n - 2), sizeof *all->luck);
    all->count = mem_array(all->n * all->n, sizeof *all->count);
    all->oob = mem_array(all->n, sizeof *all->oob);
    sample_chains_init(&all->chains, (size_t)samples, 2);
    return 0;
}

static void
visits_release(struct visits *all)
{
    free(all->s);
    free(all->luck);
    free(all->count);
    free(all->oob);
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
