/*
 * An encoder of ours in torchvision: model.safetensors loads with strict names
 * and gives the same pooled features.  Skipped without Debian's
 * python3-torchvision.
 */
#include <stdlib.h>
#include <string.h>

#include "nn/model.h"
#include "nn/safetensors.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 3 };

static char folder[] = "/tmp/foil-test-XXXXXX";

static const char *const script =
    "import json, struct, sys\n"
    "import numpy as np, torch, torchvision\n"
    "torch.set_num_threads(1)\n"
    "dtypes = {'F32': '<f4', 'I64': '<i8', 'U8': 'u1'}\n"
    "def read(path):\n"
    "    raw = open(path, 'rb').read()\n"
    "    n, = struct.unpack('<Q', raw[:8])\n"
    "    head, data = json.loads(raw[8:8 + n]), raw[8 + n:]\n"
    "    head.pop('__metadata__', None)\n"
    "    return {k: torch.from_numpy(np.frombuffer(\n"
    "        data[slice(*v['data_offsets'])], dtypes[v['dtype']])\n"
    "        .reshape(v['shape']).copy()) for k, v in head.items()}\n"
    "def compare(arch, stem, folder):\n"
    "    net = getattr(torchvision.models, arch)()\n"
    "    net.fc = torch.nn.Identity()\n"
    "    if stem == 'small':\n"
    "        net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)\n"
    "        net.maxpool = torch.nn.Identity()\n"
    "    net.load_state_dict(read(folder + '/model.safetensors'), "
    "strict=True)\n"
    "    ours = read(folder + '/features.safetensors')\n"
    "    x = ours['images'].permute(0, 3, 1, 2).float() / 255\n"
    "    x = (x - ours['mean'].view(3, 1, 1)) / ours['deviation'].view(3, 1, "
    "1)\n"
    "    with torch.no_grad(): h = net.eval()(x)\n"
    "    off = ((h - ours['features']).norm() / h.norm()).item()\n"
    "    print('# %s, %s: off by %.1e' % (arch, stem, off), flush=True)\n"
    "    assert off < 1e-4 and h.norm() > 1e-3\n"
    "for spec in sys.argv[1:]: compare(*spec.split(','))\n";

/* Weights as drawn, running statistics that are not the identity. */
static void
fill(struct nn_net *net)
{
    size_t n, count;
    const struct nn_tensor *t = nn_net_tensors(net, &n);
    float *x = nn_net_statistics(net, &count);
    struct rng rng;

    nn_net_init(net, 5);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++) {
        int mean = strstr(t[i].name, "running_mean") != NULL;

        for (size_t k = 0; t[i].statistic && k < t[i].count; k++)
            x[t[i].offset + k] =
                (float)rng_range(&rng, mean ? -0.2 : 0.5, mean ? 0.2 : 1.5);
    }
}

static void
write_features(const char *in, struct nn_net *net, const struct nn_spec *spec,
               const uint8_t *images, const float *h)
{
    char *path = mem_format("%s/features.safetensors", in);
    struct nn_array *a = mem_array(4, sizeof *a);
    struct err err;

    nn_array_init(a, "images", "U8", 4,
                  (size_t[]){N, spec->height, spec->image_width, 3}, images);
    nn_array_init(a + 1, "features", "F32", 2,
                  (size_t[]){N, nn_net_features(net)}, h);
    nn_array_init(a + 2, "mean", "F32", 1, (size_t[]){3}, spec->mean);
    nn_array_init(a + 3, "deviation", "F32", 1, (size_t[]){3}, spec->deviation);
    if (nn_arrays_write(path, a, 4, NULL, &err))
        abort();
    nn_arrays_free(a, 4);
    free(path);
}

/* An encoder, images and what it makes of them, in a folder of their own:
 * "arch,stem,folder" for the script. */
static char *
write_example(const char *arch, const char *stem, size_t side)
{
    const struct nn_spec spec = {
        .arch = arch,
        .stem = stem,
        .norm = "batch",
        .head = "32",
        .height = side,
        .image_width = side,
        .channels = 3,
        .mean = {0.485f, 0.456f, 0.406f},
        .deviation = {0.229f, 0.224f, 0.225f},
    };
    char *in = mem_format("%s/%s-%s", folder, arch, stem), *text;
    struct err err = {""};
    struct nn_net *net = nn_net_new(&spec, N, 0, &err);
    uint8_t *images = mem_array(N * side * side, 3);
    float *h = mem_array(N * nn_net_features(net), sizeof *h);
    struct rng rng;

    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < N * side * side * 3; i++)
        images[i] = (uint8_t)rng_below(&rng, 256);
    fill(net);
    nn_net_infer(net, &(struct nn_input){.n = N, .images = images}, h, NULL);
    file_mkdir(in, 0700, &err);
    write_features(in, net, &spec, images, h);
    T(!nn_model_save(in, net, 1, &err), "%s, %s stem: saved %s", arch, stem,
      err.msg);
    text = mem_format("%s,%s,%s", arch, stem, in);
    nn_net_free(net);
    free(images);
    free(h);
    free(in);
    return text;
}

int
main(void)
{
    struct err err;
    char *program, *spec[3], *command;

    if (system("/usr/bin/python3 -c 'import torchvision' 2>/dev/null")) {
        T_SKIP("torchvision agrees", "no python3-torchvision");
        return t_done();
    }
    if (!mkdtemp(folder))
        return 1;
    program = mem_format("%s/features.py", folder);
    if (file_write(program, script, strlen(script), &err))
        return 1;
    spec[0] = write_example("resnet18", "small", 32);
    spec[1] = write_example("resnet18", "imagenet", 64);
    spec[2] = write_example("resnet50", "imagenet", 64);
    command = mem_format("/usr/bin/python3 %s %s %s %s", program, spec[0],
                         spec[1], spec[2]);
    fflush(stdout);
    T(!system(command), "torchvision loads them and agrees");
    for (size_t i = 0; i < 3; i++)
        free(spec[i]);
    free(command);
    free(program);
    file_remove(folder, &err);
    return t_done();
}
