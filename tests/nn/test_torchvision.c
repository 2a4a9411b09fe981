#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "nn/model.h"
#include "num/threads.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * Interoperation: what nn_model_save() writes loads into torchvision's models
 * with strict names, and they compute the same features, to 1e-4 of their rms.
 * tests/nn/torchvision_peer.py is the other side.
 */
#define PYTHON "/usr/bin/python3"

struct request {
    const char *script, *folder;
    struct nn_spec spec;
};

static void
look_for_torchvision(const void *arg)
{
    (void)arg;
    execl(PYTHON, PYTHON, "-c",
          "import importlib.util as u; exit(not u.find_spec('torchvision'))",
          (char *)NULL);
    exit(127);
}

static void
run_peer(const void *arg)
{
    const struct request *r = arg;
    char height[32], width[32];

    snprintf(height, sizeof height, "%zu", r->spec.height);
    snprintf(width, sizeof width, "%zu", r->spec.image_width);
    execl(PYTHON, PYTHON, r->script, r->folder, r->spec.arch, r->spec.stem,
          height, width, (char *)NULL);
    exit(127);
}

/* Trains the statistics a little, so that they are nothing special, and saves
 * the encoder with images and their features. */
static int
save(const struct nn_spec *spec, const char *folder, struct err *err)
{
    enum { N = 4 };
    struct nn_net *net = nn_net_new(spec, N, 1, err);
    size_t pixels = N * spec->height * spec->image_width * 3, width;
    uint8_t *images = mem_array(pixels, 1);
    float *h;
    struct rng rng;
    int rc;

    if (!net)
        return -1;
    width = nn_net_features(net);
    h = mem_array(N * width, sizeof *h);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < pixels; i++)
        images[i] = (uint8_t)rng_u32(&rng);
    nn_net_init(net, 1);
    for (int i = 0; i < 3; i++)
        nn_net_forward(net, N, images, NULL, NULL);
    nn_net_infer(net, N, images, h, NULL);
    rc = nn_model_save(folder, net, 3, err);
    if (!rc)
        rc = file_write("images", images, pixels, err);
    if (!rc)
        rc = file_write("features", h, N * width * sizeof *h, err);
    free(images);
    free(h);
    nn_net_free(net);
    return rc;
}

int
main(void)
{
    static const struct {
        const char *arch, *stem;
        size_t height, width;
    } nets[] = {
        {"resnet18", "small", 32, 32},
        {"resnet50", "imagenet", 33, 40},
    };
    char folder[256], top[1024], *script;

    if (!getcwd(top, sizeof top) ||
        child_run(look_for_torchvision, NULL).code) {
        T_SKIP("features as torchvision's", "no python3-torchvision");
        return t_done();
    }
    script = mem_format("%s/tests/nn/torchvision_peer.py", top);
    num_threads(1);
    child_scratch(folder);
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct request r = {
            script,
            folder,
            {.arch = nets[i].arch,
             .stem = nets[i].stem,
             .norm = "batch",
             .head = "none",
             .height = nets[i].height,
             .image_width = nets[i].width,
             .channels = 3,
             .mean = {.485f, .456f, .406f},
             .deviation = {.229f, .224f, .225f}},
        };
        struct err err = {""};
        struct child peer;

        T(save(&r.spec, folder, &err) == 0, "%s saved%s", nets[i].arch,
          err.msg);
        peer = child_run(run_peer, &r);
        T(peer.code == 0, "%s, %s stem: %s%s", nets[i].arch, nets[i].stem,
          strtok(peer.out, "\n"), peer.err);
    }
    remove("model.safetensors");
    remove("images");
    remove("features");
    if (chdir("/") == 0)
        rmdir(folder);
    free(script);
    return t_done();
}
