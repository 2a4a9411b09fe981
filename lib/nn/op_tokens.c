#include <string.h>

#include "num/half.h"
#include "num/tokens.h"
#include "num/vec.h"
#include "util/err.h"

#include "operator.h"

size_t
nn_graph_patches(struct nn_graph *graph, size_t in, size_t p)
{
    const struct num_map map = graph->values[in].map;
    struct num_map rows = nn_graph_rows(map.c * p * p);

    REQUIRE(map.block == 1 && map.h % p == 0 && map.w % p == 0);
    rows.bf16 = map.bf16;
    graph->each = 1 + map.h / p * (map.w / p);
    graph->context = graph->each;
    return nn_graph_add_one(graph, &nn_op_patches, in, nn_none, rows, &p,
                            sizeof p);
}

/* Copies the pixels of an image to its patches, or back: `image` has c h w
 * numbers, `rows` c p p for each token. */
static void
copy_patch(const struct num_map *map, size_t p, int back, void *image,
           void *rows)
{
    const size_t across = map->w / p, bytes = num_half_bytes(p, map->bf16);

    for (size_t k = 0; k < map->c; k++)
        for (size_t y = 0; y < map->h; y++)
            for (size_t x = 0; x < across; x++) {
                const size_t patch = 1 + y / p * across + x;
                void *in = num_half_at(image, (k * map->h + y) * map->w + x * p,
                                       map->bf16);
                void *out = num_half_at(
                    rows, ((patch * map->c + k) * p + y % p) * p, map->bf16);

                memcpy(back ? in : out, back ? out : in, bytes);
            }
}

/* Copies all images x to their patches y, or back. */
static void
copy_patches(const struct nn_call *call, int back, const void *x, const void *y)
{
    const struct num_map map = nn_map_in(call, 0);
    const size_t p = *(const size_t *)call->step->op.set;
    const size_t image = map.c * map.h * map.w;
    const size_t token = map.c * p * p, rows = call->graph->each * token;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map.n; i++) {
        void *first = num_half_at(y, i * rows, map.bf16);

        if (!back) // the place of the class token
            memset(first, 0, num_half_bytes(token, map.bf16));
        copy_patch(&map, p, back, num_half_at(x, i * image, map.bf16), first);
    }
}

static void
patches_forward(const struct nn_call *call)
{
    copy_patches(call, 0, call->x[0], call->y);
}

static void
patches_backward(const struct nn_call *call)
{
    if (call->dx[0])
        copy_patches(call, 1, call->dx[0], call->dy);
}

const struct nn_operator nn_op_patches = {
    .name = "patches",
    .splits = 1,
    .forward = patches_forward,
    .backward = patches_backward,
};

size_t
nn_graph_class_token(struct nn_graph *graph, size_t in, const char *name)
{
    const struct num_map map = graph->values[in].map;
    size_t tensor =
        nn_graph_tensor(graph, name, NULL, 0, 3, (size_t[]){1, 1, map.c});

    REQUIRE(graph->values[in].tokens);
    graph->tensors[tensor].decays = 0;
    return nn_graph_add_one(graph, &nn_op_class_token, in, tensor, map, NULL,
                            0);
}

/* Where the class token of sample i is in an array. */
static void *
class_token_at(const struct nn_call *call, const void *x, size_t i)
{
    const struct num_map map = nn_map_out(call);

    return num_half_at(x, call->offsets[i] * map.c, map.bf16);
}

static void
class_token_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    if (call->y != call->x[0])
        memcpy(call->y, call->x[0], num_map_bytes(&map));
    for (size_t i = 0; i < call->plan->n; i++)
        num_half_put(map.c, map.bf16, nn_param(call, 0),
                     class_token_at(call, call->y, i));
}

static void
class_token_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);
    float *dclass = nn_grad(call, 0);
    void *dx = call->dx[0];

    if (!call->add)
        memset(dclass, 0, map.c * sizeof *dclass);
    for (size_t i = 0; i < call->plan->n; i++)
        num_half_axpy(map.c, map.bf16, 1, class_token_at(call, call->dy, i),
                      dclass);
    if (!dx)
        return;
    if (dx != call->dy)
        memcpy(dx, call->dy, num_map_bytes(&map));
    for (size_t i = 0; i < call->plan->n; i++)
        memset(class_token_at(call, dx, i), 0, num_half_bytes(map.c, map.bf16));
}

const struct nn_operator nn_op_class_token = {
    .name = "class_token",
    .needs = {.over = 1, .over_dy = 1},
    .forward = class_token_forward,
    .backward = class_token_backward,
};

size_t
nn_graph_position(struct nn_graph *graph, size_t in, const char *name, int one,
                  double deviation)
{
    const struct num_map map = graph->values[in].map;
    const size_t shape[] = {1, graph->context, map.c};
    size_t tensor =
        nn_graph_tensor(graph, name, NULL, 0, one ? 3 : 2, shape + !one);

    REQUIRE(graph->values[in].tokens && graph->context);
    graph->tensors[tensor].decays = 0;
    graph->initial[tensor].deviation = deviation;
    return nn_graph_add_one(graph, &nn_op_position, in, tensor, map, NULL, 0);
}

static void
position_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    num_position(call->plan->n, call->offsets, map.c, map.bf16,
                 nn_param(call, 0), call->x[0], call->y);
}

static void
position_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call);

    num_position_back(call->plan->n, call->offsets, call->graph->context, map.c,
                      map.bf16, call->dy, call->add, nn_grad(call, 0));
    if (call->dx[0] && call->dx[0] != call->dy)
        memcpy(call->dx[0], call->dy, num_map_bytes(&map));
}

const struct nn_operator nn_op_position = {
    .name = "position",
    .needs = {.over = 1, .over_dy = 1},
    .forward = position_forward,
    .backward = position_backward,
};

size_t
nn_graph_token_pick(struct nn_graph *graph, size_t in, enum nn_pick which)
{
    struct num_map map = graph->values[in].map;

    REQUIRE(graph->values[in].tokens);
    map.bf16 = 0;
    return nn_graph_add_one(graph, &nn_op_token_pick, in, nn_none, map, &which,
                            sizeof which);
}

/* The index of the picked token of sample i. */
static size_t
picked_token(const struct nn_call *call, size_t i)
{
    const enum nn_pick *set = call->step->op.set;

    return *set == NN_FIRST ? call->offsets[i] : call->offsets[i + 1] - 1;
}

static void
token_pick_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w;
    float *y = call->y;

    for (size_t i = 0; i < map.n; i++)
        num_half_get(
            d, in.bf16,
            num_half_at(call->x[0], picked_token(call, i) * d, in.bf16),
            y + i * d);
}

static void
token_pick_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w;
    const float *dy = call->dy;
    void *dx = call->dx[0];

    if (!dx)
        return;
    memset(dx, 0, num_map_bytes(&in));
    for (size_t i = 0; i < map.n; i++)
        num_half_put(d, in.bf16, dy + i * d,
                     num_half_at(dx, picked_token(call, i) * d, in.bf16));
}

const struct nn_operator nn_op_token_pick = {
    .name = "token_pick",
    .pools = 1,
    .forward = token_pick_forward,
    .backward = token_pick_backward,
};

size_t
nn_graph_token_mean(struct nn_graph *graph, size_t in)
{
    struct num_map map = graph->values[in].map;

    map.bf16 = 0;
    return nn_graph_add_one(graph, &nn_op_token_mean, in, nn_none, map, NULL,
                            0);
}

static int
token_mean_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
                   struct nn_step *step)
{
    (void)plan;
    step->needs = (struct nn_needs){
        .scratch = graph->values[step->op.out].map.c * sizeof(float)};
    return 0;
}

static void
token_mean_forward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w, *offsets = call->offsets;
    float *y = call->y;

    memset(y, 0, num_map_bytes(&map));
    for (size_t i = 0; i < map.n; i++, y += d) {
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            num_half_axpy(d, in.bf16, 1,
                          num_half_at(call->x[0], t * d, in.bf16), y);
        num_scale(d, 1 / (float)(offsets[i + 1] - offsets[i]), y);
    }
}

static void
token_mean_backward(const struct nn_call *call)
{
    const struct num_map map = nn_map_out(call), in = nn_map_in(call, 0);
    const size_t d = map.c * map.h * map.w, *offsets = call->offsets;
    const float *dy = call->dy;
    float *each = call->scratch;

    for (size_t i = 0; call->dx[0] && i < map.n; i++, dy += d) {
        memcpy(each, dy, d * sizeof *dy);
        num_scale(d, 1 / (float)(offsets[i + 1] - offsets[i]), each);
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            num_half_put(d, in.bf16, each,
                         num_half_at(call->dx[0], t * d, in.bf16));
    }
}

const struct nn_operator nn_op_token_mean = {
    .name = "token_mean",
    .pools = 1,
    .prepare = token_mean_prepare,
    .forward = token_mean_forward,
    .backward = token_mean_backward,
};
