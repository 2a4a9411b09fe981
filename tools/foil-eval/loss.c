#include <stdlib.h>

#include "eval.h"
#include "loss/global.h"
#include "measured.h"
#include "num/vec.h"
#include "util/mem.h"

static double tau = 0.2;

const struct opt loss_opts[] = {
    {"tau", 0, OPT_REAL, &tau, 1e-3, 1e3, "X", "temperature; beta is 1 / X"},
    MEASURED_OPTS('b'),
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* |parameters|^2.  A loss of unit vectors does not change with the length of
 * what they are made by, and its gradient falls as 1 over it: the product of
 * both squares compares encoders of different lengths. */
static double
square_weight(const struct measured *m)
{
    size_t count;
    const float *w = nn_net_params(m->model.net, &count);

    return num_dot(count, w, w);
}

/* |dL/dparameters|^2 from dz, chunk by chunk. */
static double
square_gradient(struct measured *m, const float *dz)
{
    struct nn_net *net = m->model.net;
    const float *g = nn_net_grads(net);
    size_t count;

    for (size_t first = 0; first < m->n; first += m->batch) {
        measured_forward(m, first);
        nn_net_backward(net, dz + first * m->dim, first > 0);
    }
    nn_net_params(net, &count);
    return num_dot(count, g, g);
}

/* One form of the loss, and its gradient. */
static json_t *
measure_form(struct measured *m, double beta, int inside)
{
    const struct loss_global set = {m->images, m->n / m->images, m->dim,
                                    beta,      inside,           0};
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    float *dz = mem_array(m->n * m->dim, sizeof *dz);
    const double value = loss_global(&set, m->z, dz, work);
    json_t *form;

    free(work);
    form = json_pack("{s:f s:f s:f s:b}", "loss", value, "square_gradient",
                     square_gradient(m, dz), "beta", beta, "positive_inside",
                     inside);
    free(dz);
    return form;
}

void
run_loss(char **path)
{
    const double beta = 1 / tau;
    struct measured m;
    json_t *line, *how, *released;

    measured_open(&m, path, 1);
    progress_start(&m.progress, "rows", 0, 3 * (double)m.n);
    measured_embed(&m);
    line = json_pack("{s:s}", "measure", "loss");
    json_object_update_new(line, measure_form(&m, beta, 0));
    released = measure_form(&m, beta * beta, 1);
    progress_clear(&m.progress);
    json_object_set_new(line, "released", released);
    json_object_set_new(line, "square_weight", json_real(square_weight(&m)));
    how = json_pack("{s:f s:I s:I}", "tau", tau, "rows", (json_int_t)m.n,
                    "negatives", (json_int_t)(m.n - m.n / m.images));
    json_object_update_new(how, measured_origin(&m, path));
    print(line, how);
    measured_release(&m);
}
