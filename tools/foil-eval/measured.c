#include "instrument.h"

#include <stdlib.h>
#include <string.h>

#include "image/codec.h"
#include "loss/global.h"
#include "nn/safetensors.h"
#include "num/vec.h"
#include "util/digest.h"
#include "util/mem.h"

enum { KEEP = 256 << 20 }; // bytes of decoded images

struct measured_settings measured_settings = {.recipe = "cifar",
                                              .views = 2,
                                              .chunk = 256,
                                              .max_pixels = IMAGE_MAX_PIXELS};

const struct opt views_opts[] = {
    {"views", 0, OPT_WHOLE, &measured_settings.views, 2, 1000, "N",
     "fixed views of each image: the first N random ones"},
    {"recipe", 0, OPT_TEXT, &measured_settings.recipe, 0, 0, "SPEC",
     "augmentations of views, NAME[,FIELD=X]..."},
    {"seed", 's', OPT_WHOLE, &measured_settings.seed, 0, 1e15, "N",
     "seed of views, as in foil-augment"},
    {"average", 0, OPT_FLAG, &measured_settings.average, 0, 0, NULL,
     "use the averaged weights, see foil-train --average-last"},
    {0},
};
const struct opt chunk_opts[] = {
    {"chunk", 0, OPT_WHOLE, &measured_settings.chunk, 1, 65536, "N",
     "rows encoded at a time"},
    {"max-pixels", 0, OPT_WHOLE, &measured_settings.max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    {0},
};

static double tau = 0.2;

static const struct opt loss_own[] = {
    {"tau", 0, OPT_REAL, &tau, 1e-3, 1e3, "X", "temperature; beta is 1 / X"},
    {0},
};
/* chunk_opts[] with the names of `foil-eval loss`. */
static const struct opt batch_opts[] = {
    {"batch", 'b', OPT_WHOLE, &measured_settings.chunk, 1, 65536, "N",
     "rows encoded at a time"},
    {"max-pixels", 0, OPT_WHOLE, &measured_settings.max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    {0},
};
verb_opts loss_opts = {loss_own,     views_opts,  batch_opts,
                       threads_opts, output_opts, NULL};

void
measured_open(struct measured *m, char **path, int train)
{
    const struct data_pool_settings how = {
        .policy = IMAGE_REFUSE,
        .max_pixels = (size_t)measured_settings.max_pixels,
        .keep_bytes = KEEP};
    const struct nn_spec *spec = &m->model.spec;
    struct err err;

    *m = (struct measured){.batch = (size_t)measured_settings.chunk};
    if (image_recipe_find(measured_settings.recipe, &m->recipe, &err))
        opt_misuse("%s", err.msg);
    m->set = data_open_or_die(path[1], 0);
    m->images = data_size(m->set);
    m->n = m->images * (size_t)measured_settings.views;
    if (m->images < 2)
        die("'%s' has one image: the loss needs two", path[1]);
    if (m->batch > m->n)
        m->batch = m->n;
    or_die(nn_model_read(&m->model, path[0], 0, &err), &err);
    m->model.spec.bf16 = 0; // as all measures are in f32
    or_die(nn_model_build(&m->model, m->batch, train, measured_settings.average,
                          &err) ||
               nn_model_fits(&m->model, m->images,
                             (size_t)measured_settings.views, &err),
           &err);
    if (json_object_get(m->model.config, "text"))
        die("'%s' has a text encoder: its loss is of images and captions, not "
            "of two views",
            path[0]);
    if (spec->height != spec->image_width || spec->channels != 3)
        die("'%s' is not for square images in colour", path[0]);
    m->seed = data_seed(m->set, (uint64_t)measured_settings.seed);
    m->pool = data_pool_new(m->set, &how);
    m->recipe.size = spec->height;
    m->pixel = mem_array(m->batch, spec->height * spec->height * 3);
    m->id = mem_array(m->batch, sizeof *m->id);
    m->dim = nn_net_dim(m->model.net);
    m->z = mem_array(m->n * m->dim, sizeof *m->z);
    m->all = mem_array(m->n, sizeof *m->all);
    for (size_t i = 0; i < m->n; i++)
        m->all[i] = i;
}

void
measured_release(struct measured *m)
{
    nn_model_release(&m->model);
    data_pool_free(m->pool);
    data_close(m->set);
    image_scratch_free(m->scratch);
    mem_free(m->pixel, m->id, m->all, m->z);
}

/* Encodes any n <= batch rows: z [n,dim]. */
static void
encode_rows(struct measured *m, size_t n, const size_t *row, float *z)
{
    const size_t views = (size_t)m->model.spec.views;
    const struct nn_input input = {.n = n, .images = m->pixel, .ids = m->id};
    struct nn_net *net = m->model.net;
    struct err err;

    for (size_t i = 0; i < n; i++) {
        const size_t id = row[i] % m->images, view = row[i] / m->images;
        const struct image *image;

        if (nn_net_ids(net)) {
            m->id[i] = (int32_t)(view + views * id);
            continue;
        }
        image = data_pool_get(m->pool, id, NULL, &err);
        if (!image) {
            progress_clear(&m->progress);
            die("%s", err.msg);
        }
        image_view(&m->recipe, image, m->seed, id, 0, view, &m->scratch,
                   m->pixel + i * m->recipe.size * m->recipe.size * 3);
    }
    if (nn_net_grads(net))
        nn_net_forward(net, NN_FIXED, &input, NULL, z);
    else
        nn_net_infer(net, &input, NULL, z);
    m->done += n;
    if (m->progress.unit)
        progress_show(&m->progress, (double)m->done, "");
}

void
measured_embed(struct measured *m)
{
    for (size_t first = 0; first < m->n; first += m->batch) {
        const size_t n = m->n - first < m->batch ? m->n - first : m->batch;

        encode_rows(m, n, m->all + first, m->z + first * m->dim);
    }
}

const float *
measured_gradient(struct measured *m, size_t n, const size_t *row,
                  const float *dz)
{
    float *z = mem_array(m->batch * m->dim, sizeof *z);

    for (size_t first = 0; first < n; first += m->batch) {
        const size_t k = n - first < m->batch ? n - first : m->batch;

        encode_rows(m, k, row + first, z);
        nn_net_backward(m->model.net, dz + first * m->dim, first > 0);
    }
    free(z);
    return nn_net_grads(m->model.net);
}

json_t *
measured_origin(const struct measured *m, char **path)
{
    char hex[DIGEST_HEX];

    return json_pack(
        "{s:I s:s s:I s:s s:I s:O s:{s:s s:s s:I}}", "views",
        (json_int_t)measured_settings.views, "recipe", measured_settings.recipe,
        "seed", (json_int_t)measured_settings.seed, "statistics", "running",
        "threads", (json_int_t)common_options.threads, "encoder",
        m->model.about, "data", "path", path[1], "digest",
        digest_hex(data_digest(m->set), hex), "size", (json_int_t)m->images);
}

void
tables_open(struct tables *tables, const char *folder)
{
    struct err err;

    tables->folder = folder;
    or_die(nn_arrays_read(mem_temp("%s/samples.safetensors", folder),
                          &tables->array, &tables->n, NULL, &err),
           &err);
}

const float *
tables_find(const struct tables *tables, const char *name, size_t n,
            size_t *each)
{
    const struct nn_array *a = nn_arrays_find(tables->array, tables->n, name);

    *each = a && a->rank == 2 ? a->shape[1] : 1;
    if (!a || strcmp(a->dtype, "F32") || a->rank < 1 || a->rank > 2 || !*each)
        return NULL;
    if (a->shape[0] != n)
        die("'%s/samples.safetensors' has %zu samples, the data set has %zu",
            tables->folder, a->shape[0], n);
    return a->data;
}

/* Measures one form of the loss, and its gradient. */
static json_t *
measure_form(struct measured *m, double beta, int inside)
{
    const struct loss_global set = {m->images, m->n / m->images, m->dim,
                                    beta,      inside,           0};
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    float *dz = mem_array(m->n * m->dim, sizeof *dz);
    const double value = loss_global(&set, m->z, dz, work);
    const float *g = measured_gradient(m, m->n, m->all, dz);
    size_t count;

    nn_net_params(m->model.net, &count);
    mem_free(work, dz);
    return json_pack("{s:f s:f s:f s:b}", "loss", value, "square_gradient",
                     num_dot(count, g, g), "beta", beta, "positive_inside",
                     inside);
}

void
run_loss(char **path)
{
    const double beta = 1 / tau;
    struct measured m;
    json_t *line, *how, *released;
    const float *w;
    size_t count;

    measured_open(&m, path, 1);
    progress_start(&m.progress, "rows", 0, 3 * (double)m.n);
    measured_embed(&m);
    line = json_pack("{s:s}", "measure", "loss");
    json_object_update_new(line, measure_form(&m, beta, 0));
    released = measure_form(&m, beta * beta, 1);
    progress_clear(&m.progress);
    json_object_set_new(line, "released", released);
    // A loss of unit vectors is invariant to the scale of the parameters, and
    // its gradient is inversely proportional to it: the product of both squares
    // compares encoders of different scale.
    w = nn_net_params(m.model.net, &count);
    json_object_set_new(line, "square_weight", json_real(num_dot(count, w, w)));
    how = json_pack("{s:f s:I s:I}", "tau", tau, "rows", (json_int_t)m.n,
                    "negatives", (json_int_t)(m.n - m.n / m.images));
    json_object_update_new(how, measured_origin(&m, path));
    print(line, how);
    measured_release(&m);
}
