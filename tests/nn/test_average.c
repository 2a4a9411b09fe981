#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "nets.h"
#include "nn/average.h"

/* The weights after step k: independent noise. */
static void
weights_at(struct nn_net *net, uint64_t k)
{
    size_t n;
    float *p = nn_net_params(net, &n);
    struct rng rng;

    rng_init(&rng, k, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(7 + 1e-3 * rng_normal(&rng));
}

static struct nn_net *
open_net(const struct nn_spec *spec)
{
    struct err err = {""};
    struct nn_net *net = nn_net_new(spec, 1, 0, &err);

    T(net != NULL, "a net %s", err.msg);
    nn_net_init(net, 1);
    return net;
}

static void
it_is_the_mean(void)
{
    enum { STEPS = 300 };
    struct nn_net *net = open_net(&tiny);
    struct nn_average average;
    size_t n;
    const float *p = nn_net_params(net, &n);
    double *sum = mem_array(n, sizeof *sum), most = 0;

    nn_average_init(&average, net);
    for (uint64_t k = 0; k < STEPS; k++) {
        weights_at(net, k);
        nn_average_add(&average, net);
        for (size_t i = 0; i < n; i++)
            sum[i] += p[i];
    }
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(average.mean[i] - sum[i] / STEPS));
    T(average.steps == STEPS, "%ld steps", average.steps);
    T(most < 1e-13, "their sum divided by their number, within %g", most);
    nn_average_release(&average);
    T(!average.mean, "released");
    nn_average_release(&average);
    free(sum);
    nn_net_free(net);
}

/* A float of 7 cannot change by 1e-7; the mean of a million must. */
static void
a_small_change_counts(void)
{
    struct nn_net *net = open_net(&tiny);
    struct nn_average average;
    size_t n;
    float *p = nn_net_params(net, &n);

    nn_average_init(&average, net);
    p[0] = 7;
    nn_average_add(&average, net);
    average.steps = 999999;
    p[0] = 7.1f;
    nn_average_add(&average, net);
    T_NEAR(average.mean[0] - 7, 1e-7, 1e-12, "a millionth of the difference");
    nn_average_release(&average);
    nn_net_free(net);
}

static void
it_is_saved_and_read(void)
{
    struct nn_net *net = open_net(&tiny);
    struct nn_average a, b;
    const struct nn_weights blocks = nn_net_weights(net);
    struct err err = {""};
    size_t n;

    nn_net_params(net, &n);
    nn_average_init(&a, net);
    nn_average_init(&b, net);
    b.steps = 3;
    T(!nn_average_save(".", &blocks, &a, &err) &&
          !nn_average_load(".", &blocks, &b, &err) && b.steps == 0,
      "no step, no file, no step %s", err.msg);
    for (uint64_t k = 0; k < 5; k++) {
        weights_at(net, k);
        nn_average_add(&a, net);
    }
    T(!nn_average_save(".", &blocks, &a, &err), "saved %s", err.msg);
    T(!nn_average_load(".", &blocks, &b, &err), "read %s", err.msg);
    T(b.steps == 5 && !memcmp(a.mean, b.mean, n * sizeof *a.mean),
      "the same bits");
    nn_average_release(&a);
    nn_average_release(&b);
    nn_net_free(net);
}

/* Loads the saved mean for a net of another spec. */
static void
refuses(struct nn_spec other, const char *sentence)
{
    struct nn_net *net = open_net(&other);
    const struct nn_weights blocks = nn_net_weights(net);
    struct nn_average average;
    struct err err = {""};

    nn_average_init(&average, net);
    T(nn_average_load(".", &blocks, &average, &err) < 0 &&
          strstr(err.msg, sentence),
      "%s", err.msg);
    nn_average_release(&average);
    nn_net_free(net);
}

int
main(void)
{
    struct nn_spec wide = tiny, bare = tiny;
    char scratch[256];

    child_scratch(scratch);
    it_is_the_mean();
    a_small_change_counts();
    it_is_saved_and_read();
    wide.width = 24;
    refuses(wide, "the shape of tensor 'conv1.weight' is not the net's");
    bare.head = "none";
    refuses(bare, "tensors, the net has");
    T(!unlink("average.safetensors") && !chdir("/") && !rmdir(scratch),
      "one file is written");
    return t_done();
}
