#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/conv.h"
#include "num/maps.h"
#include "num/threads.h"
#include "peak.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_conv f32|bf16 THREADS TIMES [SHAPE]: each pass of the convolutions of
 * ResNet-18 and ResNet-20 at 32 px, and of the last layers of a ResNet-18 of
 * width 32 with the large stem, 64 views: our Winograd, our products by tap,
 * those by AMX, oneDNN's direct sums and its own Winograd, one after the other,
 * TIMES times. "3-64@32/2,1" has 3 channels of 32x32 pixels in, 64 out, stride
 * 2 and kernel 1; "64@32" has as many out, stride 1 and kernel 3.  A line is
 *
 *     64@32 forward 10.57 20.12 - 22.82 12.88 457 182 winograd:avx512
 *
 * with the shortest time of each in ms (- where there is none), of the
 * processor with one thread, the GFLOP/s of what the table of lib/num/conv.c
 * chooses, counted as direct sums, these in percent of the most that THREADS
 * reach, and the choice: "peak 251" is that of one, by a loop of multiply-adds
 * alone (0: not known for this processor).
 */
enum { VIEWS = 64, HOWS = 5 };

static int threads;

static const struct shape {
    const char *name;
    size_t c, side, out, kernel, stride;
} shapes[] = {
    {"64@32", 64, 32, 64, 3, 1},
    {"128@16", 128, 16, 128, 3, 1},
    {"256@8", 256, 8, 256, 3, 1},
    {"512@4", 512, 4, 512, 3, 1},
    {"16@32", 16, 32, 16, 3, 1},
    {"32@16", 32, 16, 32, 3, 1},
    {"64@8", 64, 8, 64, 3, 1},
    {"3-64@32", 3, 32, 64, 3, 1},
    {"64-128@32/2", 64, 32, 128, 3, 2},
    {"128-256@16/2", 128, 16, 256, 3, 2},
    {"256-512@8/2", 256, 8, 512, 3, 2},
    {"64-128@32/2,1", 64, 32, 128, 1, 2},
    {"128-256@16/2,1", 128, 16, 256, 1, 2},
    {"256-512@8/2,1", 256, 8, 512, 1, 2},
    {"3-16@32", 3, 32, 16, 3, 1},
    {"16-32@32/2", 16, 32, 32, 3, 2},
    {"32-64@16/2", 32, 16, 64, 3, 2},
    {"16-32@32/2,1", 16, 32, 32, 1, 2},
    {"32-64@16/2,1", 32, 16, 64, 1, 2},
    {"64@4", 64, 4, 64, 3, 1},
    {"128@2", 128, 2, 128, 3, 1},
    {"256@1", 256, 1, 256, 3, 1},
    {"32-64@8/2", 32, 8, 64, 3, 2},
    {"64-128@4/2", 64, 4, 128, 3, 2},
    {"128-256@2/2", 128, 2, 256, 3, 2},
    {"64-128@4/2,1", 64, 4, 128, 1, 2},
    {"128-256@2/2,1", 128, 2, 256, 1, 2},
};

static const char *const passes[] = {"forward", "back_data", "back_weights"};

/* Data of a shape, and its convolution by each algorithm. */
struct bench {
    struct num_conv_spec spec;
    struct num_conv *conv[HOWS], *table; /* table: only for its names */
    float *w, *dw;
    void *x, *y;
    char *scratch;
};

static void
fill(size_t n, float *x)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(&rng);
}

static void *
map_of(const struct num_map *map)
{
    size_t n = num_map_size(map);
    float *plain = mem_array(n, sizeof *plain);
    void *data = mem_aligned(num_map_bytes(map), 1);

    fill(n, plain);
    map_put(map, plain, data);
    free(plain);
    return data;
}

static void
setup(struct bench *b, struct num_dnn *dnn, const struct shape *s, int bf16)
{
    static const enum num_conv_how hows[HOWS] = {
        NUM_CONV_WINOGRAD, NUM_CONV_TAPS, NUM_CONV_TILES, NUM_CONV_DIRECT,
        NUM_CONV_DNN_WINOGRAD};
    const size_t w = s->out * s->c * s->kernel * s->kernel;
    struct num_map out;
    size_t most = 0;

    b->spec = (struct num_conv_spec){
        .in = {VIEWS, s->c, s->side, s->side, num_map_block(s->c), bf16},
        .out = s->out,
        .block = num_map_block(s->out),
        .kernel = s->kernel,
        .stride = s->stride,
        .pad = s->kernel / 2,
        .train = 1,
        .back_data = s->c > 3}; // else these are images
    out = num_conv_out(&b->spec);
    for (int i = 0; i < HOWS; i++) {
        b->spec.how = hows[i];
        b->conv[i] = num_conv_new(dnn, &b->spec);
        if (num_conv_scratch(b->conv[i]) > most)
            most = num_conv_scratch(b->conv[i]);
    }
    b->spec.how = NUM_CONV_TABLE;
    b->table = num_conv_new(dnn, &b->spec);
    b->scratch = mem_aligned(most, 1);
    b->w = mem_aligned(w, sizeof *b->w);
    b->dw = mem_aligned(w, sizeof *b->dw);
    fill(w, b->w);
    b->x = map_of(&b->spec.in);
    b->y = map_of(&out);
}

static void
release(struct bench *b)
{
    for (int i = 0; i < HOWS; i++)
        num_conv_free(b->conv[i]);
    num_conv_free(b->table);
    free(b->scratch);
    free(b->w);
    free(b->dw);
    free(b->x);
    free(b->y);
}

/* Others that run here disturb the time of a processor less than that of a
 * clock, but it counts all threads. */
static double
now(void)
{
    return threads == 1 ? clock_cpu() : clock_now();
}

static double
once(const struct bench *b, int how, int pass)
{
    double start = now();

    num_conv_run(b->conv[how], (enum num_conv_pass)pass,
                 &(struct num_conv_args){.x = b->x,
                                         .dy = b->y,
                                         .y = b->y,
                                         .dx = b->x,
                                         .w = b->w,
                                         .dw = b->dw,
                                         .scratch = b->scratch});
    return (now() - start) * 1e3;
}

/* The name tells whether there is a kernel of this kind. */
static int
there_is(const struct bench *b, int how, int pass)
{
    static const char *const part[HOWS] = {"winograd:", "taps:", "tiles:", "",
                                           "wino"};
    const char *name = num_conv_name(b->conv[how], (enum num_conv_pass)pass);

    return strstr(name, part[how]) != NULL;
}

/* Which of them the table takes. */
static int
chosen(const struct bench *b, int pass)
{
    const char *name = num_conv_name(b->table, (enum num_conv_pass)pass);

    return !strncmp(name, "winograd:", 9) ? 0
           : !strncmp(name, "taps:", 5)   ? 1
           : !strncmp(name, "tiles:", 6)  ? 2
                                          : 3;
}

static void
compare(const struct bench *b, const char *name, int pass, int times,
        double most)
{
    const struct num_conv_spec *spec = &b->spec;
    const struct num_map out = num_conv_out(spec);
    const double sums = (double)(num_map_size(&out) * spec->in.c);
    const double flop = 2. * (double)(spec->kernel * spec->kernel) * sums;
    double best[HOWS], speed;

    for (int i = 0; i < HOWS; i++)
        best[i] = HUGE_VAL;
    for (int k = 0; k < times; k++)
        for (int i = 0; i < HOWS; i++)
            if (there_is(b, i, pass))
                best[i] = fmin(best[i], once(b, i, pass));
    printf("%s %s", name, passes[pass]);
    for (int i = 0; i < HOWS; i++)
        if (isfinite(best[i]))
            printf(" %.2f", best[i]);
        else
            printf(" -");
    speed = flop / best[chosen(b, pass)] * 1e-6;
    printf(" %.0f %.0f %s\n", speed, most > 0 ? 100 * speed / most : 0,
           num_conv_name(b->table, (enum num_conv_pass)pass));
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    struct num_dnn *dnn;
    double most;

    if (argc < 4)
        return 2;
    threads = num_threads(atoi(argv[2]));
    dnn = num_dnn_new();
    most = peak() * threads;
    printf("peak %.0f\n", most / threads);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct bench b = {.conv = {0}};

        if (argc > 4 && strcmp(argv[4], shapes[i].name))
            continue;
        setup(&b, dnn, &shapes[i], !strcmp(argv[1], "bf16"));
        for (int pass = 0; pass < 3; pass++)
            if (pass != NUM_CONV_BACK_DATA || b.spec.back_data)
                compare(&b, shapes[i].name, pass, atoi(argv[3]), most);
        release(&b);
    }
    num_dnn_free(dnn);
    return 0;
}
