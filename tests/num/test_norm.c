#include <string.h>

#include "maps.h"
#include "num/norm.h"
#include "num/threads.h"
#include "plain_norm.h"
#include "t.h"

/* All inputs and outputs of a norm, plain. */
struct data {
    size_t size, c, counts;
    float *x, *add, *dy, *dy2, *gamma, *beta;
    float *y, *dx, *dadd, *mean, *variance, *dgamma, *dbeta;
    double *work;
};

static struct data
data_of(const struct num_norm *norm)
{
    struct data d = {.size = num_map_size(&norm->map),
                     .c = norm->map.c,
                     .counts = num_norm_counts(norm) + 1};
    float **in[] = {&d.x, &d.add, &d.dy, &d.dy2};
    float **out[] = {&d.y, &d.dx, &d.dadd};

    for (size_t i = 0; i < 4; i++) {
        *in[i] = normal(d.size, i);
        rounded(&norm->map, *in[i]);
    }
    for (size_t i = 0; i < 3; i++)
        *out[i] = mem_array(d.size, sizeof **out[i]);
    d.gamma = normal(d.c, 10);
    d.beta = normal(d.c, 11);
    d.dgamma = mem_array(d.c, sizeof *d.dgamma);
    d.dbeta = mem_array(d.c, sizeof *d.dbeta);
    d.mean = normal(d.counts, 12);
    d.variance = normal(d.counts, 13);
    for (size_t i = 0; i < d.counts; i++)
        d.variance[i] = 1 + fabsf(d.variance[i]);
    d.work = mem_array(3 * d.size, sizeof *d.work);
    return d;
}

static void
data_release(struct data *d)
{
    void *all[] = {d->x,    d->add,      d->dy,     d->dy2,  d->gamma,
                   d->beta, d->y,        d->dx,     d->dadd, d->mean,
                   d->work, d->variance, d->dgamma, d->dbeta};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* A norm of these arrays, without the optional ones: add, dy2, dadd. */
static struct num_norm
norm_of(const struct num_norm *norm, const struct data *d)
{
    struct num_norm n = *norm;

    n.x = d->x;
    n.y = d->y;
    n.gamma = d->gamma;
    n.beta = d->beta;
    n.mean = d->mean;
    n.variance = d->variance;
    n.dy = d->dy;
    n.dx = d->dx;
    n.dgamma = d->dgamma;
    n.dbeta = d->dbeta;
    n.work = d->work;
    return n;
}

/* Both passes by the plain functions; dy and dy2 are passed as their sum. */
static void
plain_of(const struct num_norm *norm, struct data *d, int add, int two)
{
    float *sum = mem_array(d->size, sizeof *sum);
    struct num_norm plain = norm_of(norm, d);

    for (size_t i = 0; i < d->size; i++)
        sum[i] = d->dy[i] + (two ? d->dy2[i] : 0);
    plain.dy = sum;
    plain.add = add ? d->add : NULL;
    plain.dadd = add ? d->dadd : NULL;
    plain_norm_forward(&plain);
    plain_norm_backward(&plain);
    free(sum);
}

/*
 * The fast one against the plain one, in place where possible: y over x forward
 * where nothing needs x, dx over dy, dadd over dy.
 */
static void
agrees(const struct num_norm *norm, int add, int two, const char *name)
{
    struct data want = data_of(norm), got = data_of(norm);
    const struct num_map *map = &norm->map;
    double tolerance = map->bf16 ? 6e-2 : 2e-5; // halves, up to 4 rms
    void *x = packed(map, got.x), *more = add ? packed(map, got.add) : NULL;
    void *dy = packed(map, got.dy), *dy2 = two ? packed(map, got.dy2) : NULL;
    void *y = empty(map), *dx = add ? empty(map) : dy;
    double *work = mem_array(num_norm_work(norm), sizeof *work);
    void *own[] = {x, more, dy, dy2, y, add ? dx : NULL, work};
    struct num_norm fast = norm_of(norm, &got);

    plain_of(norm, &want, add, two);
    fast.x = x;
    fast.add = more;
    fast.y = y;
    fast.work = work;
    num_norm_forward(&fast);
    T_NEAR(map_worst(map, y, want.y), 0, tolerance, "%s: y", name);
    if (norm->kind != NUM_NORM_NONE) {
        T_NEAR(worst(want.counts - 1, got.mean, want.mean), 0, 1e-4, "mean");
        T_NEAR(worst(want.counts - 1, got.variance, want.variance), 0, 1e-5,
               "variance");
    }
    fast.y = add || norm->kind == NUM_NORM_NONE ? y : NULL;
    fast.dy = dy;
    fast.dy2 = dy2;
    fast.dx = dx;
    fast.dadd = add ? dy : NULL;
    num_norm_backward(&fast);
    T_NEAR(map_worst(map, dx, want.dx), 0, tolerance, "%s: dx", name);
    if (add)
        T_NEAR(map_worst(map, dy, want.dadd), 0, tolerance, "dadd");
    if (norm->kind != NUM_NORM_NONE) {
        T_NEAR(worst(want.c, got.dgamma, want.dgamma), 0, tolerance, "dgamma");
        T_NEAR(worst(want.c, got.dbeta, want.dbeta), 0, tolerance, "dbeta");
    }
    data_release(&want);
    data_release(&got);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
}

/* The part of a batch from image `from` on, of n images. */
static struct num_norm
part_of(const struct num_norm *whole, size_t from, size_t n, double *work)
{
    const struct num_map before = {
        from,         whole->map.c,     whole->map.h,
        whole->map.w, whole->map.block, whole->map.bf16};
    const size_t at = from ? num_map_bytes(&before) : 0;
    struct num_norm part = *whole;
    const void **in[] = {&part.x, &part.add, &part.dy, &part.dy2};
    void **out[] = {&part.y, &part.dx, &part.dadd};

    part.rows = whole->map.n;
    part.map.n = n;
    part.work = work;
    for (size_t i = 0; i < 4; i++)
        if (*in[i])
            *in[i] = (const char *)*in[i] + at;
    for (size_t i = 0; i < 3; i++)
        if (*out[i])
            *out[i] = (char *)*out[i] + at;
    return part;
}

/* Both passes of a batch whose first image is one part and the rest another. */
static void
run_parts(const struct num_norm *whole, int remake)
{
    const size_t c = whole->map.c, bytes = 2 * c * sizeof(double);
    double *sums = mem_array(4 * c, sizeof *sums);
    double *work = mem_array(2 * num_norm_work(whole), sizeof *work);
    struct num_norm part[2] = {
        part_of(whole, 0, 1, work),
        part_of(whole, 1, whole->map.n - 1, work + num_norm_work(whole))};

    for (int back = 0; back < 2; back++) {
        for (size_t i = 0; i < 2; i++) {
            part[i].accumulate = i > 0;
            if (back && remake)
                part[i].y = NULL;
            (back ? num_norm_back_sums : num_norm_sums)(part + i,
                                                        sums + 2 * c * i);
        }
        for (size_t k = 0; k < 2 * c; k++)
            sums[k] += sums[2 * c + k];
        memcpy(sums + 2 * c, sums, bytes);
        for (size_t i = 0; i < 2; i++) {
            (back ? num_norm_back_finish : num_norm_finish)(part + i, sums);
            if (!back)
                num_norm_apply(part + i);
        }
    }
    free(sums);
    free(work);
}

static void
parts_agree(const struct num_map *map, int add, int two)
{
    const struct num_norm norm = {.map = *map, .relu = !two};
    const double tolerance = map->bf16 ? 6e-2 : 2e-5;
    struct data want = data_of(&norm), got = data_of(&norm);
    struct num_norm whole = norm_of(&norm, &got);
    void *own[] = {packed(map, got.x),  add ? packed(map, got.add) : NULL,
                   packed(map, got.dy), two ? packed(map, got.dy2) : NULL,
                   empty(map),          empty(map)};

    plain_of(&norm, &want, add, two);
    whole.x = own[0];
    whole.add = own[1];
    whole.dy = own[2];
    whole.dy2 = own[3];
    whole.y = own[4];
    whole.dx = add ? own[5] : own[2];
    whole.dadd = add ? own[2] : NULL;
    run_parts(&whole, !add);
    T_NEAR(map_worst(map, own[4], want.y), 0, tolerance, "parts of %zux%zu: y",
           map->c, map->h);
    T_NEAR(map_worst(map, whole.dx, want.dx), 0, tolerance, "dx");
    if (add)
        T_NEAR(map_worst(map, own[2], want.dadd), 0, tolerance, "dadd");
    T_NEAR(worst(want.c, got.variance, want.variance), 0, 1e-5, "variance");
    T_NEAR(worst(want.c, got.dgamma, want.dgamma), 0, tolerance, "dgamma");
    T_NEAR(worst(want.c, got.dbeta, want.dbeta), 0, tolerance, "dbeta");
    data_release(&want);
    data_release(&got);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
}

static void
agrees_with_plain(void)
{
    static const struct num_map maps[] = {
        {3, 16, 5, 7, 16, 0}, {2, 32, 4, 4, 16, 0}, {5, 64, 1, 1, 16, 0},
        {3, 24, 3, 3, 8, 0},  {4, 5, 3, 3, 1, 0},   {2, 32, 5, 5, 16, 1},
    };
    static const char *kinds[] = {"batch", "group", "none", "fixed"};

    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++)
        for (int kind = 0; kind < 4; kind++)
            for (int how = 0; how < 4; how++) {
                struct num_norm norm = {.kind = (enum num_norm_kind)kind,
                                        .map = maps[m],
                                        .groups = maps[m].c % 8 ? 1 : 8,
                                        .relu = how != 1};
                char name[80];

                snprintf(name, sizeof name, "%s %zux%zu, block %zu%s%s%s",
                         kinds[kind], maps[m].c, maps[m].h, maps[m].block,
                         maps[m].bf16 ? ", halves" : "",
                         how >= 2 ? ", added" : "", how == 3 ? ", two" : "");
                agrees(&norm, how >= 2, how == 3, name);
            }
    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++)
        for (int how = 0; how < 4; how++)
            parts_agree(maps + m, how & 1, how >> 1);
}

/* With gamma 1 and beta 0 each channel has mean 0 and variance 1; a large mean
 * of x costs no digits. */
static void
output_is_standard(void)
{
    struct num_norm norm = {.kind = NUM_NORM_BATCH,
                            .map = {8, 16, 4, 4, 16, 0}};
    struct data d = data_of(&norm);
    double sum = 0, square = 0;

    for (size_t i = 0; i < d.size; i++)
        d.x[i] += 1000;
    for (size_t k = 0; k < 16; k++) {
        d.gamma[k] = 1;
        d.beta[k] = 0;
    }
    norm = norm_of(&norm, &d);
    num_norm_forward(&norm);
    for (size_t i = 0; i < d.size; i += 16) {
        sum += d.y[i];
        square += d.y[i] * d.y[i];
    }
    T_NEAR(sum / 128, 0, 2e-4, "mean 0");
    T_NEAR(square / 128, 1, 2e-4, "variance 1");
    data_release(&d);
}

static void
given_statistics_are_used(void)
{
    struct num_norm norm = {
        .kind = NUM_NORM_BATCH, .map = {2, 16, 3, 3, 16, 0}, .relu = 1};
    struct data d = data_of(&norm);
    float off = 0;

    for (size_t k = 0; k < 16; k++) {
        d.mean[k] = (float)k;
        d.variance[k] = (float)(k + 1);
    }
    norm = norm_of(&norm, &d);
    norm.add = d.add;
    num_norm_apply(&norm);
    for (size_t i = 0; i < d.size; i++) {
        size_t k = i % 16;
        double y =
            d.gamma[k] * (d.x[i] - d.mean[k]) / sqrt(d.variance[k] + 1e-5) +
            d.beta[k] + d.add[i];

        off = fmaxf(off, fabsf(d.y[i] - (float)fmax(y, 0)));
    }
    T(off < 2e-5f, "evaluation: gamma (x - m) / sqrt(v + eps) + beta + add");
    data_release(&d);
}

static void
nan_stays(void)
{
    struct num_norm norm = {
        .kind = NUM_NORM_BATCH, .map = {2, 16, 5, 5, 16, 0}, .relu = 1};
    struct data d = data_of(&norm);

    d.x[3] = NAN;
    norm = norm_of(&norm, &d);
    num_norm_forward(&norm);
    T(isnan(d.y[16 * 40 + 3]) && isfinite(d.y[16 * 40 + 4]),
      "a NaN spoils its channel, through the ReLU");
    data_release(&d);
}

static void
threads_change_no_bit(void)
{
    struct num_norm norm = {
        .kind = NUM_NORM_BATCH, .map = {6, 16, 8, 8, 16, 0}, .relu = 1};
    struct data a = data_of(&norm), b = data_of(&norm);
    struct data *d[] = {&a, &b};
    struct num_norm run[2];

    for (int i = 0; i < 2; i++) {
        num_threads(i + 1);
        run[i] = norm_of(&norm, d[i]);
        num_norm_forward(&run[i]);
        run[i].y = NULL;
        num_norm_backward(&run[i]);
    }
    T(!memcmp(a.y, b.y, a.size * sizeof *a.y) &&
          !memcmp(a.dx, b.dx, a.size * sizeof *a.dx) &&
          !memcmp(a.dgamma, b.dgamma, a.c * sizeof *a.dgamma),
      "one thread and two: the same bits");
    run[0].accumulate = 1;
    num_norm_backward(&run[0]);
    T(a.dgamma[5] == 2 * b.dgamma[5] && a.dbeta[7] == 2 * b.dbeta[7],
      "accumulate adds");
    data_release(&a);
    data_release(&b);
}

/* Both passes, with images measured separately, the last one first. */
static void
run_measured(struct num_norm *norm, float *scale)
{
    for (size_t i = norm->map.n; i-- > 0;)
        num_norm_measure(norm, i);
    norm->measured = 1;
    num_norm_forward(norm);
    num_norm_scales(norm, scale);
    norm->scale = scale;
    if (!norm->add)
        norm->y = NULL;
    for (size_t i = norm->map.n; i-- > 0;)
        num_norm_back_measure(norm, i);
    num_norm_backward(norm);
}

static void
images_measured_separately_change_no_bit(int add)
{
    const struct num_norm norm = {
        .kind = NUM_NORM_BATCH, .map = {5, 32, 3, 3, 16, 0}, .relu = 1};
    struct data a = data_of(&norm), b = data_of(&norm);
    struct data *d[] = {&a, &b};
    float scale[32];

    for (int i = 0; i < 2; i++) {
        struct num_norm run = norm_of(&norm, d[i]);

        run.add = add ? d[i]->add : NULL;
        run.dadd = add ? d[i]->dadd : NULL;
        if (i) {
            run_measured(&run, scale);
            continue;
        }
        num_norm_forward(&run);
        run.y = add ? run.y : NULL;
        num_norm_backward(&run);
    }
    T(!memcmp(a.y, b.y, a.size * sizeof *a.y) &&
          !memcmp(a.dx, b.dx, a.size * sizeof *a.dx) &&
          !memcmp(a.dadd, b.dadd, a.size * sizeof *a.dadd) &&
          !memcmp(a.dgamma, b.dgamma, a.c * sizeof *a.dgamma),
      "images measured separately%s: the same bits", add ? ", with a sum" : "");
    data_release(&a);
    data_release(&b);
}

/* 1 + 2^-8 and 1 + 3 2^-8 are half way between two halves. */
static void
sums_round_to_even(void)
{
    float x[48], add[48], want[48];
    uint16_t mx[48], more[48], y[48];
    struct num_norm norm = {.kind = NUM_NORM_NONE,
                            .map = {1, 48, 1, 1, 1, 1},
                            .x = mx,
                            .add = more,
                            .y = y};

    for (int i = 0; i < 48; i++) {
        x[i] = i % 3 ? 1 : 1 + 0x1p-7f;
        add[i] = 0x1p-8f;
        want[i] = i % 3 ? 1 : 1 + 0x1p-6f;
    }
    map_put(&norm.map, x, mx);
    map_put(&norm.map, add, more);
    norm.map.block = 16; // the same with one pixel, and as wide as a vector
    num_norm_apply(&norm);
    norm.map.block = 1;
    T(map_worst(&norm.map, y, want) == 0, "halves: ties to even, short planes");
    norm.map = (struct num_map){1, 16, 1, 3, 16, 1};
    num_norm_apply(&norm);
    norm.map = (struct num_map){1, 48, 1, 1, 1, 1};
    T(map_worst(&norm.map, y, want) == 0, "halves: ties to even, long planes");
}

int
main(void)
{
    sums_round_to_even();
    agrees_with_plain();
    output_is_standard();
    given_statistics_are_used();
    nan_stays();
    threads_change_no_bit();
    images_measured_separately_change_no_bit(0);
    images_measured_separately_change_no_bit(1);
    return t_done();
}
