#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"

#include "encoder.h"

enum { MAX_WIDTH = 65536, MAX_LAYERS = 16 };

static const char project[] = "project:";

/* A parsed head spec: "512-128-bn" has two widths, with batch norm between. */
struct head {
    size_t layers, width[MAX_LAYERS];
    int norm;
    int project; /* one layer, without bias */
};

/* Returns 0, or -1 for an invalid spec. */
static int
parse_head(const char *spec, struct head *head)
{
    *head = (struct head){0};
    if (!strcmp(spec, "none"))
        return 0;
    head->project = !strncmp(spec, project, strlen(project));
    if (head->project)
        spec += strlen(project);
    for (;;) {
        unsigned long width;
        char *end;

        if (!isdigit((unsigned char)*spec) || head->layers == MAX_LAYERS)
            return -1;
        width = strtoul(spec, &end, 10);
        if (width < 1 || width > MAX_WIDTH ||
            (*end && (*end != '-' || head->project)))
            return -1;
        head->width[head->layers++] = width;
        if (!*end)
            return 0;
        spec = end + 1;
        if (!strcmp(spec, "bn")) {
            head->norm = 1;
            return 0;
        }
    }
}

int
nn_head_check(const char *spec, struct err *err)
{
    struct head head;

    if (!parse_head(spec, &head))
        return 0;
    return err_set(err,
                   "bad head '%s': want widths up to %d such as '512-128' or "
                   "'512-128-bn', 'project:128', or 'none'",
                   spec, MAX_WIDTH);
}

size_t
nn_head_width(const char *spec)
{
    struct head head;

    return parse_head(spec, &head) || !head.layers
               ? 0
               : head.width[head.layers - 1];
}

static size_t
add_linear(struct nn_graph *graph, const char *name, size_t in, size_t out,
           int fixed)
{
    return nn_graph_linear(
        graph, in,
        &(struct nn_linear){.name = name, .out = out, .fixed = fixed});
}

/* With open_clip's names: that of images is a layer of its tower, that of texts
 * a parameter of its own. */
static size_t
add_projection(struct nn_graph *graph, size_t x, size_t out)
{
    const double width = (double)graph->values[x].map.c;
    const struct nn_linear image = {
        .name = "head.proj", .out = out, .no_bias = 1};
    const struct nn_linear text = {.name = "text_projection",
                                   .out = out,
                                   .transposed = 1,
                                   .no_bias = 1,
                                   .deviation = pow(width, -0.5)};

    return nn_graph_linear(graph, x, graph->texts ? &text : &image);
}

size_t
nn_head(struct nn_graph *graph, const char *spec, size_t x)
{
    struct head head;
    size_t at = 0; // in nn.Sequential

    REQUIRE(!parse_head(spec, &head));
    if (head.project)
        return add_projection(graph, x, head.width[0]);
    for (size_t i = 0; i < head.layers; i++) {
        size_t norm = nn_none;
        char name[64];

        snprintf(name, sizeof name, "head.%zu", at++);
        x = add_linear(graph, name, x, head.width[i], 0);
        if (i + 1 == head.layers)
            break;
        if (head.norm) {
            snprintf(name, sizeof name, "head.%zu", at++);
            norm = nn_graph_norm_tensors(graph, name, NUM_NORM_BATCH,
                                         head.width[i]);
        }
        x = nn_graph_norm(graph, x, norm,
                          head.norm ? NUM_NORM_BATCH : NUM_NORM_NONE, nn_none,
                          1);
        at++; // the ReLU
    }
    return x;
}

static size_t
hidden_width(const struct nn_design *design)
{
    return design->spec->hidden ? (size_t)design->spec->hidden : 512;
}

size_t
nn_mlp(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    x = add_linear(graph, "fc1", x, hidden_width(design), 0);
    x = nn_graph_norm(graph, x, nn_none, NUM_NORM_NONE, nn_none, 1);
    return add_linear(graph, "fc2", x, hidden_width(design), 0);
}

size_t
nn_linear(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    if (design->spec->basis)
        x = add_linear(graph, "basis", x, (size_t)design->spec->basis, 1);
    return add_linear(graph, "fc", x, hidden_width(design), 0);
}

size_t
nn_rows(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    x = nn_graph_rows_of(graph, x, (size_t)design->spec->samples,
                         (size_t)design->spec->views,
                         (size_t)design->spec->basis);
    return add_linear(graph, "fc", x, hidden_width(design), 0);
}

size_t
nn_frozen(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    const size_t width = design->size[0], layers = design->size[1];
    const int norm = strcmp(design->spec->norm, "none") != 0;
    struct nn_linear last = {.out = width};
    size_t onto = x, tensor;
    char name[32];

    if (graph->values[x].map.c != width)
        onto = nn_graph_linear(
            graph, x,
            &(struct nn_linear){.name = "project", .out = width, .no_bias = 1});
    for (size_t i = 1; i < layers; i++) {
        snprintf(name, sizeof name, "layers.%zu", i - 1);
        x = add_linear(graph, name, x, width, 0);
        snprintf(name, sizeof name, "norms.%zu", i - 1);
        if (norm)
            x = nn_graph_layer_norm(
                graph, x, nn_graph_layer_norm_tensors(graph, name, width),
                1e-5);
        x = nn_graph_gelu(graph, x, NUM_GELU_ERF);
    }
    snprintf(name, sizeof name, "layers.%zu", layers - 1);
    last.name = name;
    tensor = graph->n_tensors;
    x = nn_graph_linear_onto(graph, x, onto, &last);
    graph->initial[tensor] = graph->initial[tensor + 1] =
        (struct nn_initial){0};
    return x;
}

size_t
nn_table(struct nn_graph *graph, const struct nn_design *design, size_t x)
{
    return nn_graph_table(graph, x, (size_t)design->spec->samples,
                          (size_t)design->spec->views, hidden_width(design));
}
