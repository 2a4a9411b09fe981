/* The net of a spec: tensors, names, initial values; or a refusal. */
#include "nets.h"
#include "num/threads.h"

/* torchvision's counts of parameters, without fc: 11,689,512 - 513,000 and so
 * on; a batch norm has as many statistics as parameters. */
static void
sizes_are_torchvisions(void)
{
    static const struct {
        const char *arch;
        size_t params, features, tensors;
    } nets[] = {
        {"resnet18", 11176512, 512, 100},
        {"resnet34", 21284672, 512, 180},
        {"resnet50", 23508032, 2048, 265},
    };

    for (size_t i = 0; i < 3; i++) {
        struct nn_spec spec = tiny;
        struct nn_net *net;
        struct err err;
        size_t params, tensors;

        spec.arch = nets[i].arch;
        spec.stem = "imagenet";
        spec.head = "none";
        spec.width = 0;
        net = nn_net_new(&spec, 1, 0, &err);
        nn_net_params(net, &params);
        nn_net_tensors(net, &tensors);
        T(params == nets[i].params, "%s: %zu parameters", nets[i].arch, params);
        T(nn_net_features(net) == nets[i].features &&
              nn_net_dim(net) == nets[i].features,
          "features, which are z without a head");
        T(tensors == nets[i].tensors, "%zu tensors", tensors);
        T(!nn_net_check(&spec, &err), "nn_net_check() accepts it");
        nn_net_free(net);
    }
}

static void
names_are_those_of_the_state_dict(void)
{
    static const char *want[] = {
        "conv1.weight",        "bn1.weight",      "bn1.bias",
        "bn1.running_mean",    "bn1.running_var", "layer1.0.conv1.weight",
        "layer1.0.bn1.weight",
    };
    struct nn_spec spec = tiny;
    struct fixture f;
    const struct nn_tensor *t;
    size_t n, same = 0, floats[2] = {0, 0};

    spec.head = "24-8-bn";
    f = setup(&spec, 1, 0);
    t = nn_net_tensors(f.net, &n);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        same += !strcmp(t[i].name, want[i]);
    T(same == sizeof want / sizeof *want, "the first tensors");
    T(!strcmp(t[n - 1].name, "head.3.bias") &&
          !strcmp(t[n - 3].name, "head.1.running_var"),
      "the head is Linear, BatchNorm1d, ReLU, Linear");
    for (size_t i = 0; i < n; i++) {
        same += t[i].offset == floats[t[i].statistic];
        floats[t[i].statistic] += t[i].count;
    }
    T(floats[0] == f.params && floats[1] == f.statistics,
      "tensors tile the blocks");
    teardown(&f);
}

static void
weights_are_drawn_as_torchvision_does(void)
{
    struct fixture f = setup(&tiny, 1, 0);
    float *p = nn_net_params(f.net, NULL), first = p[0], most = 0;
    const struct nn_tensor *conv = named(&f, "layer3.0.conv2.weight");
    const struct nn_tensor *linear = named(&f, "head.0.weight");
    const struct nn_tensor *norm = named(&f, "layer2.0.bn1.weight");
    double square = num_dot(conv->count, p + conv->offset, p + conv->offset);

    // each channel has 64 x 9 outgoing weights; relative error 1 / sqrt(2 n)
    T_NEAR(square / (double)conv->count * (64 * 9) / 2, 1, 0.03,
           "convolutions: variance 2 / fan_out");
    for (size_t i = 0; i < linear->count; i++)
        most = fmaxf(most, fabsf(p[linear->offset + i]));
    T(most <= 0.125f && most > 0.12f, "linear: within 1 / sqrt(64)");
    T(p[norm->offset] == 1 && p[norm->offset + norm->count] == 0,
      "norms: 1 and 0");
    T(nn_net_statistics(f.net, NULL)[0] == 0 &&
          nn_net_statistics(f.net, NULL)[16] == 1,
      "running mean 0, running variance 1");
    nn_net_init(f.net, 2);
    T(p[0] != first, "another seed, other weights");
    nn_net_init(f.net, 1);
    T(p[0] == first, "the same seed, the same weights");
    teardown(&f);
}

static void
refuses(struct nn_spec spec, const char *why)
{
    struct err err = {""}, other = {""};
    struct nn_net *net = nn_net_new(&spec, 2, 1, &err);

    T(!net && strstr(err.msg, why), "refused: %s", err.msg);
    T(nn_net_check(&spec, &other) == -1 && !strcmp(other.msg, err.msg),
      "by nn_net_check(), too");
    nn_net_free(net);
}

static void
invalid_specs_are_refused(void)
{
    static const char *heads[] = {"",      "0",        "512-",       "-5",
                                  "bn",    "5-bn-6",   "a-b",        "5 6",
                                  "70000", "project:", "project:5-6"};
    static const struct {
        const char *arch, *why;
    } sizes[] = {
        {"vit", "bad encoder 'vit': want vit:WxLxP[xH]"},
        {"vit:16x2", "bad encoder 'vit:16x2'"},
        {"vit:16x2x2x2x2", "bad encoder"},
        {"vit:16x2x2x", "bad encoder"},
        {"vit:16x2x2x3", "16 numbers cannot be shared by 3 heads"},
        {"vit:16x2x5", "images of 12x10 cannot be cut into patches of 5x5"},
        {"vit:16x0x2", "bad encoder"},
        {"vit:9000x1x2", "bad encoder"},
        {"mlp:16", "no encoder 'mlp:16'"},
        {"bow:16", "a vocabulary of 0 tokens"},
    };
    struct nn_spec s = tiny;

    s.arch = "resnet19", refuses(s, "no encoder 'resnet19'"), s = tiny;
    s.arch = "resnet", refuses(s, "no encoder 'resnet'"), s = tiny;
    s.stem = "big", refuses(s, "no stem 'big'"), s = tiny;
    s.norm = "layer", refuses(s, "no norm 'layer'"), s = tiny;
    s.width = -1, refuses(s, "bad width -1"), s = tiny;
    s.height = 7, refuses(s, "bad image height 7"), s = tiny;
    s.image_width = 1025, refuses(s, "bad image width 1025"), s = tiny;
    s.channels = 2, refuses(s, "images of 2 channels"), s = tiny;
    s.deviation[1] = 0, refuses(s, "deviation of channel 1"), s = tiny;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        s.arch = sizes[i].arch, refuses(s, sizes[i].why);
    s.context = 3, s.vocabulary = 9;
    s.arch = "distilbert:30x1x4", refuses(s, "30 numbers cannot be shared by");
    s.context = 0, refuses(s, "texts of up to 0 tokens"), s = tiny;
    s.bf16 = 1, s.width = 8, refuses(s, "bfloat16 needs a"), s = tiny;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        s.head = heads[i], refuses(s, "bad head");
    nn_net_free(NULL);
}

/* A net by that name, with inputs that it reads. */
static void
has_a_net(const char *arch, enum nn_input_kind kind)
{
    struct nn_spec s = tiny;
    struct err err = {""};
    struct nn_net *net;

    s.arch = arch;
    s.samples = s.views = 2;
    s.basis = nn_encoder_looks_up(arch) ? 4 : 0;
    s.vocabulary = 20;
    s.context = 8;
    if (nn_encoder_of_rows(arch))
        s.height = 1, s.channels = 4;
    net = nn_net_new(&s, 2, 0, &err);
    T(net && nn_net_kind(net) == kind && nn_encoder_reads(arch, kind),
      "a net %s of its kind of inputs: %s", arch, err.msg);
    T(net && nn_net_context(net) == (kind == NN_TOKENS ? 8 : 0),
      "%s has a largest length of texts", arch);
    nn_net_free(net);
}

/* The table of encoders: a net each. */
static void
each_encoder_has_a_net(void)
{
    static const char *const sized[] = {"vit:16x1x2", "frozen:8x2", "bow:16",
                                        "clip:16x1", "distilbert:16x1x2"};
    char words[512], *rest = words;
    size_t n = 0;

    snprintf(words, sizeof words, "%s|%s", nn_encoder_names(0),
             nn_encoder_names(1));
    for (char *word; (word = strtok_r(rest, "|", &rest));) {
        const size_t len = strcspn(word, ":[");
        const char *arch = word;

        for (size_t i = 0; i < sizeof sized / sizeof *sized; i++)
            if (!strncmp(sized[i], word, len) && sized[i][len] == ':')
                arch = sized[i];
        has_a_net(arch, !strcmp(word, "table") || !strcmp(word, "rows") ? NN_IDS
                        : strstr(nn_encoder_names(1), word) &&
                                !nn_encoder_of_rows(arch)
                            ? NN_TOKENS
                            : NN_IMAGES);
        n++;
    }
    T(n == 15, "thirteen encoders, and frozen in both lists");
    T(nn_encoder_looks_up("rows") && !nn_encoder_looks_up("table") &&
          !nn_encoder_looks_up("linear"),
      "one looks up given rows");
    T(!nn_encoder_reads("resnet", NN_IMAGES), "an unknown encoder reads none");
}

int
main(void)
{
    num_threads(1);
    each_encoder_has_a_net();
    sizes_are_torchvisions();
    names_are_those_of_the_state_dict();
    weights_are_drawn_as_torchvision_does();
    invalid_specs_are_refused();
    return t_done();
}
