#include "measured.h"

#include <stdlib.h>

#include "data/set.h"
#include "eval.h"
#include "image/jpeg.h"
#include "nn/average.h"
#include "util/digest.h"
#include "util/mem.h"

enum { KEEP = 256 << 20 }; // bytes of decoded images

struct measured_how measured_how = {
    .recipe = "cifar", .views = 2, .chunk = 256, .max_pixels = DATA_MAX_PIXELS};

/* Weights are f32, and so is all that is measured of them. */
static void
compute_in_f32(struct nn_spec *spec, void *data)
{
    (void)data;
    spec->bf16 = 0;
}

void
measured_open(struct measured *m, char **path, int train)
{
    const struct data_pool_how how = {.policy = DATA_REFUSE,
                                      .max_pixels =
                                          (size_t)measured_how.max_pixels,
                                      .keep_bytes = KEEP};
    const struct nn_spec *spec = &m->model.spec;
    struct err err;

    *m = (struct measured){.batch = (size_t)measured_how.chunk};
    if (data_recipe_find(measured_how.recipe, &m->recipe, &err))
        opt_misuse("%s", err.msg);
    m->set = data_open_or_die(path[1], 0);
    m->images = data_size(m->set);
    m->n = m->images * (size_t)measured_how.views;
    if (m->images < 2)
        die("'%s' has one image: the loss needs two", path[1]);
    if (m->batch > m->n)
        m->batch = m->n;
    if (nn_model_open(&m->model, path[0], m->batch, train, compute_in_f32, NULL,
                      &err) ||
        nn_model_fits(&m->model, m->images, (size_t)measured_how.views, &err) ||
        (measured_how.average && nn_average_use(&m->model, &err)))
        die("%s", err.msg);
    if (json_object_get(m->model.config, "text"))
        die("'%s' has an encoder of texts: its loss is of images and captions, "
            "not of two views",
            path[0]);
    if (spec->height != spec->image_width || spec->channels != 3)
        die("'%s' is not for square images in colour", path[0]);
    m->seed = data_seed(m->set, (uint64_t)measured_how.seed);
    m->pool = data_pool_new(m->set, &how);
    m->recipe.size = spec->height;
    m->pixel = mem_array(m->batch, spec->height * spec->height * 3);
    m->id = mem_array(m->batch, sizeof *m->id);
    m->dim = nn_net_dim(m->model.net);
    m->z = mem_array(m->n * m->dim, sizeof *m->z);
}

void
measured_release(struct measured *m)
{
    nn_model_release(&m->model);
    data_pool_free(m->pool);
    data_close(m->set);
    data_scratch_free(m->scratch);
    free(m->pixel);
    free(m->id);
    free(m->z);
}

size_t
measured_at(const struct measured *m, size_t first)
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

void
measured_rows(struct measured *m, size_t n, const size_t *row, float *z)
{
    const size_t views = (size_t)m->model.spec.views;
    const struct nn_input input = {.n = n, .images = m->pixel, .ids = m->id};
    struct nn_net *net = m->model.net;

    for (size_t i = 0; i < n; i++) {
        const size_t id = row[i] % m->images, view = row[i] / m->images;

        if (nn_net_ids(net))
            m->id[i] = (int32_t)(view + views * id);
        else
            draw_view(m, id, view, i);
    }
    if (nn_net_grads(net))
        nn_net_forward(net, NN_FIXED, &input, NULL, z);
    else
        nn_net_infer(net, &input, NULL, z);
}

void
measured_forward(struct measured *m, size_t first)
{
    const size_t n = measured_at(m, first);
    size_t *row = mem_array(n, sizeof *row);

    for (size_t i = 0; i < n; i++)
        row[i] = first + i;
    measured_rows(m, n, row, m->z + first * m->dim);
    free(row);
    m->done += n;
    progress_show(&m->progress, (double)m->done, "");
}

void
measured_embed(struct measured *m)
{
    for (size_t first = 0; first < m->n; first += m->batch)
        measured_forward(m, first);
}

json_t *
measured_origin(const struct measured *m, char **path)
{
    const struct digest digest = data_digest(m->set);
    char hex[DIGEST_HEX];

    return json_pack("{s:I s:s s:I s:s s:I s:O s:{s:s s:s s:I}}", "views",
                     (json_int_t)measured_how.views, "recipe",
                     measured_how.recipe, "seed", (json_int_t)measured_how.seed,
                     "statistics", "running", "threads",
                     (json_int_t)given.threads, "encoder", m->model.about,
                     "data", "path", path[1], "digest",
                     digest_hex(&digest, hex), "size", (json_int_t)m->images);
}
