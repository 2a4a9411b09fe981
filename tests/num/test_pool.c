#include "maps.h"
#include "num/pool.h"
#include "plain_pool.h"
#include "t.h"

static void
agrees_with_plain(struct num_dnn *dnn, const struct num_pool_spec *spec)
{
    struct num_map out = num_pool_out(spec);
    float *x = normal(num_map_size(&spec->in), 1);
    float *dy = normal(num_map_size(&out), 2);
    float *y = mem_array(num_map_size(&out), sizeof *y);
    float *dx = mem_array(num_map_size(&spec->in), sizeof *dx);
    struct num_pool *pool = num_pool_new(dnn, spec);
    void *argmax = mem_aligned(num_pool_argmax_bytes(pool), 1);
    void *scratch = mem_aligned(num_pool_scratch(pool), 1);
    void *mx, *mdy, *my = empty(&out), *mdx = empty(&spec->in);
    double tolerance = spec->in.bf16 ? 5e-2 : 1e-6; // sums in halves

    rounded(&spec->in, x);
    rounded(&out, dy);
    mx = packed(&spec->in, x);
    mdy = packed(&out, dy);
    num_pool_forward(pool, mx, my, argmax, scratch);
    num_pool_backward(pool, mdy, argmax, mdx, scratch);
    plain_pool_forward(spec, x, y);
    plain_pool_backward(spec, x, dy, dx);
    T(map_worst(&out, my, y) == 0, "%zux%zux%zu: the largest", spec->in.c,
      spec->in.h, spec->in.w);
    T_NEAR(map_worst(&spec->in, mdx, dx), 0, tolerance,
           "its gradient, added up where windows overlap");
    num_pool_free(pool);
    void *all[] = {x, dy, y, dx, argmax, scratch, mx, mdy, my, mdx};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void
inference_needs_no_places(struct num_dnn *dnn)
{
    struct num_pool_spec spec = {{1, 16, 5, 5, 16, 0}, 3, 2, 1, 0};
    struct num_pool *pool = num_pool_new(dnn, &spec);

    T(num_pool_argmax_bytes(pool) == 0, "without places, the same y");
    num_pool_free(pool);
    num_pool_free(NULL);
}

static void
mean_and_its_gradient(struct num_map map)
{
    size_t rows = map.n * map.c, pixels = map.h * map.w;
    float *x = normal(num_map_size(&map), 3), *dh = normal(rows, 4);
    float *h = mem_array(rows, sizeof *h), *want = mem_array(rows, sizeof *h);
    float *dx = mem_array(num_map_size(&map), sizeof *dx);
    void *mx, *mdx = empty(&map);

    rounded(&map, x);
    mx = packed(&map, x);
    for (size_t r = 0; r < rows; r++) {
        double sum = 0;

        for (size_t p = 0; p < pixels; p++) {
            sum += x[r * pixels + p];
            dx[r * pixels + p] = dh[r] / (float)pixels;
        }
        want[r] = (float)(sum / (double)pixels);
    }
    num_mean(&map, mx, h);
    num_mean_back(&map, dh, mdx);
    T_NEAR(worst(rows, h, want), 0, 2e-6, "mean of %zux%zux%zu, block %zu",
           map.c, map.h, map.w, map.block);
    T_NEAR(map_worst(&map, mdx, dx), 0, map.bf16 ? 2e-2 : 1e-6,
           "its gradient is even");
    void *all[] = {x, dh, h, want, dx, mx, mdx};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

int
main(void)
{
    static const struct num_pool_spec specs[] = {
        {{2, 16, 9, 7, 16, 0}, 3, 2, 1, 1}, {{1, 16, 8, 8, 16, 0}, 2, 2, 0, 1},
        {{2, 8, 5, 5, 8, 0}, 3, 2, 1, 1},   {{2, 5, 6, 7, 1, 0}, 3, 2, 1, 1},
        {{2, 16, 9, 7, 16, 1}, 3, 2, 1, 1},
    };
    struct num_dnn *dnn = num_dnn_new();

    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (!specs[i].in.bf16 || num_dnn_bf16())
            agrees_with_plain(dnn, &specs[i]);
    inference_needs_no_places(dnn);
    num_dnn_free(dnn);
    mean_and_its_gradient((struct num_map){3, 32, 4, 4, 16, 0});
    mean_and_its_gradient((struct num_map){2, 16, 7, 7, 8, 0});
    mean_and_its_gradient((struct num_map){2, 5, 3, 3, 1, 0});
    mean_and_its_gradient((struct num_map){2, 32, 1, 1, 16, 0});
    mean_and_its_gradient((struct num_map){2, 32, 7, 7, 16, 1});
    return t_done();
}
