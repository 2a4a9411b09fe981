#include <stdlib.h>
#include <string.h>

#include "eval/tsne.h"
#include "eval/tsne_parts.h"
#include "num/threads.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* Rows around `groups` distant centres. */
static float *
make_groups(size_t n, size_t d, size_t groups, double spread)
{
    float *x = mem_array(n * d, sizeof *x);
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, n, d, 0);
    for (size_t i = 0; i < n * d; i++)
        x[i] = (float)(spread * rng_normal(&rng));
    for (size_t i = 0; i < n; i++)
        x[i * d + i % groups % d] += (float)(1 + i % groups / d);
    return x;
}

static double
measure_square(size_t d, const float *a, const float *b)
{
    double sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += ((double)a[k] - b[k]) * ((double)a[k] - b[k]);
    return sum;
}

/* Computes p_ij of all pairs, in double, with a separate search. */
static double *
find_naively(size_t n, size_t d, const float *x, size_t k, double perplexity)
{
    double *p = mem_array(n * n, sizeof *p), *joint = mem_array(n * n, 8);

    for (size_t i = 0; i < n; i++) {
        double low = 1e-9, high = 1e9, kth = 0;
        double *row = p + i * n, *far = mem_array(n, sizeof *far);

        for (size_t j = 0; j < n; j++) { // the k-th nearest by counting
            size_t nearer = 0;

            far[j] = measure_square(d, x + i * d, x + j * d);
            for (size_t l = 0; l < n; l++)
                nearer +=
                    l != i && measure_square(d, x + i * d, x + l * d) < far[j];
            if (j != i && nearer < k)
                kth = fmax(kth, far[j]);
        }
        for (int t = 0; t < 200; t++) {
            const double b = sqrt(low * high);
            double sum = 0, entropy = 0;

            for (size_t j = 0; j < n; j++)
                row[j] = j == i || far[j] > kth ? 0 : exp(-b * far[j]);
            for (size_t j = 0; j < n; j++)
                sum += row[j];
            for (size_t j = 0; j < n; j++) {
                row[j] /= sum;
                entropy -= row[j] > 0 ? row[j] * log(row[j]) : 0;
            }
            if (entropy > log(perplexity))
                low = b;
            else
                high = b;
        }
        free(far);
    }
    for (size_t i = 0; i < n * n; i++)
        joint[i] = (p[i] + p[i % n * n + i / n]) / (2 * (double)n);
    free(p);
    return joint;
}

static void
affinities_are_those_of_the_formula(size_t n, size_t d, double perplexity)
{
    const size_t k = (size_t)(3 * perplexity);
    float *x = make_groups(n, d, 3, .3);
    double *want = find_naively(n, d, x, k, perplexity), worst = 0, sum = 0;
    struct affinity got;
    int rises = 1;

    eval_affinity_find(&got, n, d, x, k, perplexity);
    for (size_t i = 0; i < n; i++)
        for (size_t j = got.start[i]; j < got.start[i + 1]; j++) {
            double *p = &want[i * n + got.pair[j].column];

            rises &= j == got.start[i] ||
                     got.pair[j].column > got.pair[j - 1].column;
            sum += got.pair[j].p;
            *p -= got.pair[j].p;
        }
    for (size_t i = 0; i < n * n; i++)
        worst = fmax(worst, fabs(want[i]));
    T(worst < 1e-6 / (double)n && rises && fabs(sum - 1) < 1e-5,
      "affinities of %zu rows of %zu, perplexity %g: within %.1e, their sum "
      "1%+.1e",
      n, d, perplexity, worst, sum - 1);
    eval_affinity_release(&got);
    free(want);
    free(x);
}

/* Exact if no cell is approximated, otherwise nearly. */
static void
groups_repel_as_their_points(size_t n, float theta, double within)
{
    float *y = make_groups(n, 2, 5, .1);
    float *force = mem_array(2 * n, sizeof *force);
    float *sum = mem_array(n, sizeof *sum);
    struct quadtree tree = {0};
    double worst = 0;

    if (n > 3)
        memcpy(y + 2, y, 2 * sizeof *y); // two at one position
    for (int again = 0; again < 2; again++)
        eval_quadtree_build(&tree, n, y);
    for (size_t i = 0; i < n; i += QUADTREE_GROUP)
        eval_quadtree_repel(&tree, y, i, theta, force, sum);
    for (size_t i = 0; i < n; i++) {
        double want[3] = {0}, size = 0;

        for (size_t j = 0; j < n; j++) {
            const double w = 1 / (1 + measure_square(2, y + 2 * i, y + 2 * j));

            want[2] += w;
            for (size_t a = 0; a < 2; a++) {
                want[a] += w * w * ((double)y[2 * i + a] - y[2 * j + a]);
                size += w * w * fabs((double)y[2 * i + a] - y[2 * j + a]);
            }
        }
        worst = fmax(worst, fabs(sum[i] - want[2]) / want[2]);
        for (size_t a = 0; a < 2 && size > 0; a++)
            worst = fmax(worst, fabs(force[2 * i + a] - want[a]) / size);
    }
    T(worst < within, "repulsion of %zu points, theta %g: within %.1e of all",
      n, (double)theta, worst);
    eval_quadtree_release(&tree);
    free(sum);
    free(force);
    free(y);
}

static float *
make_map(size_t n, size_t d, const float *x, double perplexity, int steps,
         const float *start, double *divergence)
{
    struct eval_tsne *map = eval_tsne_new(n, d, x, perplexity, start);
    float *y = mem_array(2 * n, sizeof *y);

    for (int i = 0; i < steps; i++)
        eval_tsne_step(map);
    memcpy(y, eval_tsne_points(map), 2 * n * sizeof *y);
    *divergence = eval_tsne_divergence(map);
    eval_tsne_free(map);
    return y;
}

/* KL of all pairs, in double. */
static double
diverge_naively(size_t n, const double *p, const float *y)
{
    double z = 0, sum = 0;

    for (size_t i = 0; i < n * n; i++)
        z += i / n == i % n
                 ? 0
                 : 1 / (1 + measure_square(2, y + i / n * 2, y + i % n * 2));
    for (size_t i = 0; i < n * n; i++)
        if (p[i] > 0)
            sum += p[i] *
                   log(p[i] * z *
                       (1 + measure_square(2, y + i / n * 2, y + i % n * 2)));
    return sum;
}

static void
groups_are_separate(void)
{
    enum { N = 150, D = 20, GROUPS = 5 };
    float *x = make_groups(N, D, GROUPS, .1);
    double *p = find_naively(N, D, x, 30, 10), first, last, want;
    float *begun = make_map(N, D, x, 10, 0, NULL, &first);
    float *y = make_map(N, D, x, 10, 600, NULL, &last);
    size_t own = 0;

    for (size_t i = 0; i < N; i++) {
        size_t best = i ? 0 : 1;

        for (size_t j = 0; j < N; j++)
            if (j != i && measure_square(2, y + 2 * i, y + 2 * j) <
                              measure_square(2, y + 2 * i, y + 2 * best))
                best = j;
        own += best % GROUPS == i % GROUPS;
    }
    want = diverge_naively(N, p, y);
    T(own == N, "the nearest point is of the same group: of %zu of %d", own, N);
    T(last < first / 2, "the divergence falls, from %.3f to %.3f", first, last);
    T(fabs(last - want) < .01 * want, "it is %.4f of all pairs in double",
      want);
    free(p);
    free(begun);
    free(y);
    free(x);
}

/* A step moves against the gradient of KL. */
static void
first_step_is_downhill(void)
{
    enum { N = 40, D = 6 };
    float *x = make_groups(N, D, 3, .3), *y, *moved;
    double *p = find_naively(N, D, x, 15, 5), kl, worst = 0, most = 0;

    y = make_map(N, D, x, 5, EVAL_TSNE_EARLY + 60, NULL, &kl);
    moved = mem_array(2 * N, sizeof *moved);
    memcpy(moved, y, 2 * N * sizeof *y);
    for (size_t i = 0; i < 2 * N; i++) {
        double up, down;

        moved[i] = y[i] + .01F;
        up = diverge_naively(N, p, moved);
        moved[i] = y[i] - .01F;
        down = diverge_naively(N, p, moved);
        moved[i] = y[i];
        most = fmax(most, fabs(up - down) / .02);
    }
    kl = diverge_naively(N, p, y);
    for (size_t i = 0; i < 2 * N; i++)
        worst = fmax(worst, fabs((double)y[i]));
    T(most < .01 * kl && worst > .5,
      "converged after 310 steps: no slope above %.1e with KL %.3f", most, kl);
    free(p);
    free(moved);
    free(y);
    free(x);
}

static void
threads_do_not_matter(void)
{
    enum { N = 333, D = 8 };
    float *x = make_groups(N, D, 4, .3), *one, *three;
    double kl[2];

    num_threads(1);
    one = make_map(N, D, x, 20, 300, x, &kl[0]);
    num_threads(3);
    three = make_map(N, D, x, 20, 300, x, &kl[1]);
    num_threads(1);
    T(!memcmp(one, three, 2 * N * sizeof *one) && kl[0] == kl[1],
      "one and three threads give the same bits");
    free(one);
    free(three);
    free(x);
}

/* A rotated and mirrored map is restored. */
static void
turned_maps_come_back(int mirrored)
{
    enum { N = 50 };
    float *onto = make_groups(N, 2, 3, .5), *y = mem_array(2 * N, sizeof *y);
    double worst = 0, mean[2] = {0};

    for (size_t i = 0; i < 2 * N; i++)
        mean[i & 1] += onto[i] / (double)N;
    for (size_t i = 0; i < N; i++) {
        const double p = onto[2 * i] - mean[0];
        const double q = (mirrored ? -1 : 1) * (onto[2 * i + 1] - mean[1]);

        y[2 * i] = (float)(cos(2.) * p - sin(2.) * q);
        y[2 * i + 1] = (float)(sin(2.) * p + cos(2.) * q);
    }
    eval_tsne_turn(N, onto, y);
    for (size_t i = 0; i < 2 * N; i++)
        worst = fmax(worst, fabs(onto[i] - mean[i & 1] - y[i]));
    T(worst < 1e-5, "a rotated%s map is restored within %.1e",
      mirrored ? " and mirrored" : "", worst);
    free(y);
    free(onto);
}

/* Rows that moved a little: a map from the earlier one is close to it. */
static void
frames_of_an_animation_are_alike(void)
{
    enum { N = 200, D = 10 };
    float *x = make_groups(N, D, 5, .2), *before, *after, *fresh;
    double kl[3], moved = 0, size = 0;
    struct rng rng;

    before = make_map(N, D, x, 15, 700, NULL, &kl[0]);
    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < (size_t)N * D; i++)
        x[i] += (float)(.02 * rng_normal(&rng));
    after = make_map(N, D, x, 15, 700, before, &kl[1]);
    fresh = make_map(N, D, x, 15, 700, NULL, &kl[2]);
    eval_tsne_turn(N, before, after);
    for (size_t i = 0; i < N; i++) {
        moved += measure_square(2, before + 2 * i, after + 2 * i);
        size += measure_square(2, before + 2 * i, (float[2]){0});
    }
    T(moved < .1 * size && kl[1] < 1.1 * kl[2],
      "animation: points move by %.3f of their spread; KL %.3f, from PCA %.3f",
      sqrt(moved / size), kl[1], kl[2]);
    free(before);
    free(after);
    free(fresh);
    free(x);
}

/* Few rows, with one column, or all equal. */
static void
small_maps_are_finite(size_t n, size_t d, double spread)
{
    float *x = make_groups(n, d, 1, spread), *y;
    int finite = 1, apart = 1;
    double kl;

    y = make_map(n, d, x, 1, 400, NULL, &kl);
    for (size_t i = 0; i < 2 * n; i++)
        finite &= isfinite(y[i]);
    for (size_t i = 1; i < n; i++)
        apart &= measure_square(2, y, y + 2 * i) > 0;
    T(finite && apart && isfinite(kl), "%zu rows of %zu, spread %g: KL %.3f", n,
      d, spread, kl);
    free(y);
    free(x);
}

int
main(void)
{
    affinities_are_those_of_the_formula(40, 5, 5);
    affinities_are_those_of_the_formula(31, 1, 3.5);
    affinities_are_those_of_the_formula(4, 3, 1);
    groups_repel_as_their_points(1, 0, 1e-6);
    groups_repel_as_their_points(3, 0, 1e-6);
    groups_repel_as_their_points(500, 0, 1e-5);
    groups_repel_as_their_points(500, .5F, .02);
    groups_are_separate();
    first_step_is_downhill();
    threads_do_not_matter();
    turned_maps_come_back(0);
    turned_maps_come_back(1);
    frames_of_an_animation_are_alike();
    small_maps_are_finite(4, 3, .1);
    small_maps_are_finite(8, 1, .1);
    small_maps_are_finite(20, 5, 0);
    return t_done();
}
