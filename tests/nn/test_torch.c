/*
 * An encoder of foil's in torchvision: model.safetensors loads with strict
 * names and gives the same features.  torchvision's file of it, with a
 * classifier, loads here.  Skipped without Debian's python3-torchvision.
 *
 * Not for sanitizers: torchvision is not foil's code.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "nn/model.h"
#include "nn/pretrained.h"
#include "nn/safetensors.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

static size_t n_images = 3;

static char folder[256];

static const char *const script =
    "import json, struct, sys\n"
    "import numpy as np, torch, torchvision\n"
    "torch.set_num_threads(1)\n"
    "for name in 'kaiming_normal_', 'kaiming_uniform_', 'normal_', "
    "'trunc_normal_':\n"
    "    setattr(torch.nn.init, name, lambda x, *_, **__: x) # ours come\n"
    "dtypes = {'F32': '<f4', 'I64': '<i8', 'U8': 'u1'}\n"
    "def read(path):\n"
    "    raw = open(path, 'rb').read()\n"
    "    n, = struct.unpack('<Q', raw[:8])\n"
    "    head, data = json.loads(raw[8:8 + n]), raw[8 + n:]\n"
    "    head.pop('__metadata__', None)\n"
    "    return {k: torch.from_numpy(np.frombuffer(\n"
    "        data[slice(*v['data_offsets'])], dtypes[v['dtype']])\n"
    "        .reshape(v['shape']).copy()) for k, v in head.items()}\n"
    "def write(path, tensors):\n"
    "    head, data, at = {}, [], 0\n"
    "    for k, x in sorted(tensors.items(), key=lambda p: "
    "-p[1].element_size()):\n"
    "        raw = x.contiguous().numpy().tobytes()\n"
    "        head[k] = {'dtype': 'I64' if x.dtype == torch.int64 else 'F32',\n"
    "            'shape': list(x.shape),\n"
    "            'data_offsets': [at, at + len(raw)]}\n"
    "        data.append(raw)\n"
    "        at += len(raw)\n"
    "    text = json.dumps(head).encode()\n"
    "    with open(path, 'wb') as file:\n"
    "        file.writelines([struct.pack('<Q', len(text)), text, *data])\n"
    "def build(arch, side):\n"
    "    if arch[:3] != 'vit': return getattr(torchvision.models, arch)()\n"
    "    width, layers, patch, heads = map(int, arch[4:].split('x'))\n"
    "    return torchvision.models.vision_transformer.VisionTransformer(\n"
    "        side, patch, layers, heads, width, 4 * width)\n"
    "def compare(arch, stem, folder):\n"
    "    ours = read(folder + '/features.safetensors')\n"
    "    net = build(arch, ours['images'].shape[1])\n"
    "    last = 'heads' if arch[:3] == 'vit' else 'fc'\n"
    "    classifier = getattr(net, last)\n"
    "    setattr(net, last, torch.nn.Identity())\n"
    "    if arch[:3] != 'vit' and stem == 'small':\n"
    "        net.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)\n"
    "        net.maxpool = torch.nn.Identity()\n"
    "    net.load_state_dict(read(folder + '/model.safetensors'), "
    "strict=True)\n"
    "    x = ours['images'].permute(0, 3, 1, 2).float() / 255\n"
    "    x = (x - ours['mean'].view(3, 1, 1)) / ours['deviation'].view(3, 1, "
    "1)\n"
    "    with torch.no_grad(): h = net.eval()(x)\n"
    "    off = ((h - ours['features']).norm() / h.norm()).item()\n"
    "    print('# %s, %s: error %.1e' % (arch, stem, off), flush=True)\n"
    "    assert off < 1e-4 and h.norm() > 1e-3\n"
    "    setattr(net, last, classifier)\n"
    "    write(folder + '/torch.safetensors', net.state_dict())\n"
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
                  (size_t[]){n_images, spec->height, spec->image_width, 3},
                  images);
    nn_array_init(a + 1, "features", "F32", 2,
                  (size_t[]){n_images, nn_net_features(net)}, h);
    nn_array_init(a + 2, "mean", "F32", 1, (size_t[]){3}, spec->mean);
    nn_array_init(a + 3, "deviation", "F32", 1, (size_t[]){3}, spec->deviation);
    if (nn_arrays_write(path, a, 4, NULL, &err))
        abort();
    nn_arrays_free(a, 4);
    free(path);
}

static struct example {
    const char *arch, *stem;
    size_t side;
} examples[] = {{"resnet18", "small", 32},
                {"resnet18", "imagenet", 64},
                {"resnet50", "imagenet", 64},
                {"vit:48x2x8x3", "small", 32}};

enum { EXAMPLES = sizeof examples / sizeof *examples };

static struct nn_spec
spec_of(const struct example *e)
{
    return (struct nn_spec){
        .arch = e->arch,
        .stem = e->stem,
        .norm = "batch",
        .head = "32",
        .height = e->side,
        .image_width = e->side,
        .channels = 3,
        .mean = {0.485f, 0.456f, 0.406f},
        .deviation = {0.229f, 0.224f, 0.225f},
    };
}

static char *
folder_of(const struct example *e)
{
    return mem_format("%s/%s-%s", folder, e->arch, e->stem);
}

/* An encoder, images and their features, in a new folder. */
static void
write_example(const struct example *e)
{
    const struct nn_spec spec = spec_of(e);
    const size_t pixels = n_images * e->side * e->side * 3;
    char *in = folder_of(e);
    struct err err = {""};
    struct nn_net *net = nn_net_new(&spec, n_images, 0, &err);
    uint8_t *images = mem_array(pixels, 1);
    float *h = mem_array(n_images * nn_net_features(net), sizeof *h);
    struct rng rng;

    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < pixels; i++)
        images[i] = (uint8_t)rng_below(&rng, 256);
    fill(net);
    nn_net_infer(net, &(struct nn_input){.n = n_images, .images = images}, h,
                 NULL);
    file_mkdir(in, 0700, &err);
    write_features(in, net, &spec, images, h);
    T(!nn_weights_save(in, (struct nn_weights[]){nn_net_weights(net)}, 1, &err),
      "%s, %s stem: saved %s", e->arch, e->stem, err.msg);
    nn_net_free(net);
    free(images);
    free(h);
    free(in);
}

static int
same(const struct nn_tensor *t, struct nn_net *a, struct nn_net *b)
{
    const float *x = nn_net_params(a, NULL), *y = nn_net_params(b, NULL);

    if (t->statistic) {
        x = nn_net_statistics(a, NULL);
        y = nn_net_statistics(b, NULL);
    }
    return !strncmp(t->name, "head.", 5) ||
           !memcmp(x + t->offset, y + t->offset, t->count * sizeof *x);
}

/* torchvision wrote the same weights; its classifier is skipped. */
static void
loads_again(const struct example *e)
{
    const struct nn_spec spec = spec_of(e);
    char *in = folder_of(e), *path = mem_format("%s/torch.safetensors", in);
    struct err err = {""};
    struct nn_net *ours = nn_net_new(&spec, n_images, 0, &err);
    struct nn_net *theirs = nn_net_new(&spec, n_images, 0, &err);
    char *skipped = NULL;
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(ours, &n);
    int good = !nn_weights_load(in, (struct nn_weights[]){nn_net_weights(ours)},
                                &err) &&
               !nn_pretrained_load(path, theirs, &skipped, &err);

    for (size_t i = 0; good && i < n; i++)
        good &= same(t + i, ours, theirs);
    T(good && strstr(skipped, " (2)"), "%s, %s stem: loads without %s %s",
      e->arch, e->stem, skipped ? skipped : "?", err.msg);
    nn_net_free(ours);
    nn_net_free(theirs);
    free(skipped);
    free(path);
    free(in);
}

int
main(void)
{
    struct err err;
    char *program, *command;

    if (system("/usr/bin/python3 -c 'import importlib.util as i, sys; "
               "sys.exit(not i.find_spec(\"torchvision\"))'")) {
        T_SKIP("torchvision agrees", "no python3-torchvision");
        return t_done();
    }
    for (size_t i = 0; t_emulated() && i < 3; i++) {
        n_images = 1;
        examples[i].side /= 4;
    }
    // keep freed pages for the next encoder, since new ones cost a fault each
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    setenv("MALLOC_MMAP_THRESHOLD_", "1073741824", 1);
    setenv("MALLOC_TRIM_THRESHOLD_", "1073741824", 1);
    child_folder(folder);
    program = mem_format("%s/features.py", folder);
    if (file_write(program, script, strlen(script), &err))
        return 1;
    command = mem_format("/usr/bin/python3 %s", program);
    for (size_t i = 0; i < EXAMPLES; i++) {
        char *in = folder_of(&examples[i]);
        char *more = mem_format("%s %s,%s,%s", command, examples[i].arch,
                                examples[i].stem, in);

        write_example(&examples[i]);
        free(in);
        free(command);
        command = more;
    }
    fflush(stdout);
    T(!system(command), "torchvision loads them and agrees");
    for (size_t i = 0; i < EXAMPLES; i++)
        loads_again(&examples[i]);
    free(command);
    free(program);
    file_remove(folder, &err);
    return t_done();
}
