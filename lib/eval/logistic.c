#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/logistic.h"
#include "num/gemm.h"
#include "util/mem.h"

enum { BLOCK = 1024 }; // rows at a time, so that they stay in the cache

/* What eval_lbfgs() minimises. */
struct problem {
    struct eval_linear *linear;
    const struct eval_rows *rows;
    double l2;
    const struct eval_watch *watch;
    float *grad; /* as the classifier */
    float *work; /* [BLOCK,classes] */
};

void
eval_linear_init(struct eval_linear *linear, size_t d, size_t classes)
{
    *linear = (struct eval_linear){d, classes, NULL, NULL};
    linear->w = mem_array((d + 1) * classes, sizeof *linear->w);
    linear->b = linear->w + d * classes;
}

void
eval_linear_release(struct eval_linear *linear)
{
    free(linear->w);
    *linear = (struct eval_linear){0};
}

/* Returns rows first .. first + BLOCK, or fewer at the end. */
static struct eval_rows
block_of(const struct eval_rows *rows, size_t first)
{
    size_t left = rows->n - first;

    return (struct eval_rows){left < BLOCK ? left : BLOCK, rows->d,
                              rows->x + first * rows->d, rows->y + first};
}

/* Adds b to the logits of a row, and returns the index of the first largest. */
static size_t
find_top(size_t classes, float *logit, const float *b)
{
    size_t top = 0;

    for (size_t c = 0; c < classes; c++) {
        logit[c] += b[c];
        if (logit[c] > logit[top])
            top = c;
    }
    return top;
}

/*
 * Turns the logits of one row, without b, into dL/dlogit = p - [c = y] and
 * returns -log p_y.
 */
static double
softmax_gradient(size_t classes, float *logit, const float *b, size_t y)
{
    const float most = logit[find_top(classes, logit, b)];
    const double own = logit[y] - most;
    double sum = 0;

    for (size_t c = 0; c < classes; c++) {
        double odds = exp((double)logit[c] - most);

        sum += odds;
        logit[c] = (float)odds;
    }
    for (size_t c = 0; c < classes; c++)
        logit[c] = (float)(logit[c] / sum);
    logit[y] -= 1;
    return log(sum) - own;
}

double
eval_logistic_sum(const struct eval_linear *linear,
                  const struct eval_rows *rows, float *grad, float *work)
{
    size_t n = rows->n, d = linear->d, classes = linear->classes;
    double loss = 0;

    num_gemm_nt(n, classes, d, 1, rows->x, linear->w, 0, work);
    for (size_t i = 0; i < n; i++)
        loss += softmax_gradient(classes, work + i * classes, linear->b,
                                 (size_t)rows->y[i]);
    if (!grad)
        return loss;
    num_gemm_tn(classes, d, n, 1, work, rows->x, 0, grad);
    for (size_t c = 0; c < classes; c++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += work[i * classes + c];
        grad[d * classes + c] = (float)sum;
    }
    return loss;
}

double
eval_logistic_accuracy(const struct eval_linear *linear,
                       const struct eval_rows *rows, size_t *count)
{
    const size_t classes = linear->classes;
    float *work = mem_array(BLOCK * classes, sizeof *work);
    size_t right = 0;

    for (size_t first = 0; first < rows->n; first += BLOCK) {
        const struct eval_rows block = block_of(rows, first);

        num_gemm_nt(block.n, classes, block.d, 1, block.x, linear->w, 0, work);
        for (size_t i = 0; i < block.n; i++) {
            const size_t y = (size_t)block.y[i];
            const size_t top = find_top(classes, work + i * classes, linear->b);

            right += top == y;
            if (count)
                count[y * classes + top]++;
        }
    }
    free(work);
    return (double)right / (double)rows->n;
}

/* The function that is minimised: loss and gradient at w, in double. */
static double
penalised_loss(void *self, const double *w, double *g)
{
    const struct problem *problem = self;
    const struct eval_linear *linear = problem->linear;
    size_t weights = linear->d * linear->classes;
    size_t count = weights + linear->classes;
    double loss = 0, scale = 1 / (double)problem->rows->n;

    for (size_t i = 0; i < count; i++) {
        linear->w[i] = (float)w[i];
        g[i] = i < weights ? problem->l2 * w[i] : 0;
        loss += w[i] * g[i] / 2;
    }
    for (size_t first = 0; first < problem->rows->n; first += BLOCK) {
        struct eval_rows block = block_of(problem->rows, first);

        loss += scale *
                eval_logistic_sum(linear, &block, problem->grad, problem->work);
        for (size_t i = 0; i < count; i++)
            g[i] += scale * problem->grad[i];
    }
    if (problem->watch)
        problem->watch->pass(problem->watch->self);
    return loss;
}

size_t
eval_logistic_fit(struct eval_linear *linear, const struct eval_rows *rows,
                  double l2, size_t most, double tolerance,
                  const struct eval_watch *watch, double *loss)
{
    size_t count = (linear->d + 1) * linear->classes, iterations;
    struct problem problem = {linear, rows, l2, watch, NULL, NULL};
    double *w = mem_array(count, sizeof *w);

    problem.grad = mem_array(count, sizeof *problem.grad);
    problem.work = mem_array(BLOCK * linear->classes, sizeof *problem.work);
    for (size_t i = 0; i < count; i++)
        w[i] = linear->w[i];
    iterations =
        eval_lbfgs(count, penalised_loss, &problem, most, tolerance, w, loss);
    for (size_t i = 0; i < count; i++)
        linear->w[i] = (float)w[i];
    free(problem.work);
    free(problem.grad);
    free(w);
    return iterations;
}
