#include <stdlib.h>

#include "data/jpeg.h"
#include "data/pool.h"
#include "data/view.h"
#include "eval.h"
#include "loss/global.h"
#include "nn/average.h"
#include "num/vec.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"

enum { KEEP = 256 << 20 }; // bytes of decoded images

static double tau = 0.2;
static long fixed_views = 2, seed, batch = 256, max_pixels = DATA_MAX_PIXELS;
static const char *recipe = "cifar";
static int average;

const struct opt loss_opts[] = {
    {"tau", 0, OPT_REAL, &tau, 1e-3, 1e3, "X", "temperature; beta is 1 / X"},
    {"views", 0, OPT_WHOLE, &fixed_views, 2, 1000, "N",
     "fixed views of each image: the first N random ones"},
    {"recipe", 0, OPT_TEXT, &recipe, 0, 0, "SPEC",
     "augmentations of views, NAME[,FIELD=X]..."},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N",
     "seed of views, as in foil-augment"},
    {"average", 0, OPT_FLAG, &average, 0, 0, NULL,
     "of the mean of the weights, see foil-train --average"},
    {"batch", 'b', OPT_WHOLE, &batch, 1, 65536, "N",
     "rows that go through the encoder at a time"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/*
 * An encoder and the rows that it is measured on: row r is view r / images of
 * sample r % images.  What is kept of a row is its embedding; pixels and
 * activations are made again, some rows at a time.
 */
struct measured {
    struct nn_model model;
    struct data_set *set;
    struct data_pool *pool;
    struct data_recipe recipe;
    struct data_scratch *scratch;
    uint64_t seed;
    size_t images, n, batch;
    uint8_t *pixel; /* [batch,size,size,3] */
    int32_t *id;    /* [batch], of a table */
    float *z, *dz;  /* [n,dim] */
    struct progress progress;
    size_t done;
};

/* Weights are f32, and so is all that is measured of them. */
static void
compute_in_f32(struct nn_spec *spec, void *data)
{
    (void)data;
    spec->bf16 = 0;
}

static void
prepare_loss(struct measured *m, char **path)
{
    const struct data_pool_how how = {.policy = DATA_REFUSE,
                                      .max_pixels = (size_t)max_pixels,
                                      .keep_bytes = KEEP};
    const struct nn_spec *spec = &m->model.spec;
    struct err err;

    *m = (struct measured){.batch = (size_t)batch};
    if (data_recipe_find(recipe, &m->recipe, &err))
        opt_misuse("%s", err.msg);
    m->set = data_open_or_die(path[1], 0);
    m->images = data_size(m->set);
    m->n = m->images * (size_t)fixed_views;
    if (m->images < 2)
        die("'%s' has one image: the loss needs two", path[1]);
    if (m->batch > m->n)
        m->batch = m->n;
    if (nn_model_open(&m->model, path[0], m->batch, 1, compute_in_f32, NULL,
                      &err) ||
        nn_model_fits(&m->model, m->images, (size_t)fixed_views, &err) ||
        (average && nn_average_use(&m->model, &err)))
        die("%s", err.msg);
    if (json_object_get(m->model.config, "text"))
        die("'%s' has an encoder of texts: its loss is of images and captions, "
            "not of two views",
            path[0]);
    if (spec->height != spec->image_width || spec->channels != 3)
        die("'%s' is not for square images in colour", path[0]);
    m->seed = data_seed(m->set, (uint64_t)seed);
    m->pool = data_pool_new(m->set, &how);
    m->recipe.size = spec->height;
    m->pixel = mem_array(m->batch, spec->height * spec->height * 3);
    m->id = mem_array(m->batch, sizeof *m->id);
    m->z = mem_array(m->n * nn_net_dim(m->model.net), sizeof *m->z);
    m->dz = mem_array(m->n * nn_net_dim(m->model.net), sizeof *m->dz);
}

static void
release_loss(struct measured *m)
{
    nn_model_release(&m->model);
    data_pool_free(m->pool);
    data_close(m->set);
    data_scratch_free(m->scratch);
    free(m->pixel);
    free(m->id);
    free(m->z);
    free(m->dz);
}

/* Rows that go through together, from `first` on. */
static size_t
rows_at(const struct measured *m, size_t first)
{
    return m->n - first < m->batch ? m->n - first : m->batch;
}

/* Makes the pixels of a view, to place i. */
static void
draw_view(struct measured *m, size_t id, size_t view, size_t i)
{
    struct err err;
    const struct data_image *image = data_pool_get(m->pool, id, &err);

    if (!image) {
        progress_clear(&m->progress);
        die("%s", err.msg);
    }
    data_view(&m->recipe, image, m->seed, id, 0, view, &m->scratch,
              m->pixel + i * m->recipe.size * m->recipe.size * 3);
}

/* Brings rows to the encoder and fills in their embeddings. */
static void
forward_rows(struct measured *m, size_t first)
{
    const size_t n = rows_at(m, first), views = (size_t)m->model.spec.views;
    const struct nn_input input = {.n = n, .images = m->pixel, .ids = m->id};
    struct nn_net *net = m->model.net;

    for (size_t i = 0; i < n; i++) {
        size_t id = (first + i) % m->images, view = (first + i) / m->images;

        if (nn_net_ids(net))
            m->id[i] = (int32_t)(view + views * id);
        else
            draw_view(m, id, view, i);
    }
    nn_net_forward(net, NN_FIXED, &input, NULL, m->z + first * nn_net_dim(net));
    m->done += n;
    progress_show(&m->progress, (double)m->done, "");
}

static void
embed_all(struct measured *m)
{
    for (size_t first = 0; first < m->n; first += m->batch)
        forward_rows(m, first);
}

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
square_gradient(struct measured *m)
{
    struct nn_net *net = m->model.net;
    const float *g = nn_net_grads(net);
    size_t count;

    for (size_t first = 0; first < m->n; first += m->batch) {
        forward_rows(m, first);
        nn_net_backward(net, m->dz + first * nn_net_dim(net), first > 0);
    }
    nn_net_params(net, &count);
    return num_dot(count, g, g);
}

/* One form of the loss, and its gradient. */
static json_t *
measure_form(struct measured *m, double beta, int inside)
{
    const struct loss_global set = {m->images, m->n / m->images,
                                    nn_net_dim(m->model.net), beta, inside};
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    double value = loss_global(&set, m->z, m->dz, work);

    free(work);
    return json_pack("{s:f s:f s:f s:b}", "loss", value, "square_gradient",
                     square_gradient(m), "beta", beta, "positive_inside",
                     inside);
}

void
run_loss(char **path)
{
    const double beta = 1 / tau;
    struct measured m;
    json_t *line, *how, *released;
    struct digest digest;
    char hex[DIGEST_HEX];

    prepare_loss(&m, path);
    digest = data_digest(m.set);
    progress_start(&m.progress, "rows", 0, 3 * (double)m.n);
    embed_all(&m);
    line = json_pack("{s:s}", "measure", "loss");
    json_object_update_new(line, measure_form(&m, beta, 0));
    released = measure_form(&m, beta * beta, 1);
    progress_clear(&m.progress);
    json_object_set_new(line, "released", released);
    json_object_set_new(line, "square_weight", json_real(square_weight(&m)));
    how = json_pack("{s:f s:I s:I s:I s:s s:I s:s s:I s:O s:{s:s s:s s:I}}",
                    "tau", tau, "rows", (json_int_t)m.n, "negatives",
                    (json_int_t)(m.n - m.n / m.images), "views",
                    (json_int_t)fixed_views, "recipe", recipe, "seed",
                    (json_int_t)seed, "statistics", "running", "threads",
                    (json_int_t)given.threads, "encoder", m.model.about, "data",
                    "path", path[1], "digest", digest_hex(&digest, hex), "size",
                    (json_int_t)m.images);
    print(line, how);
    release_loss(&m);
}
