#include <string.h>

#include "t.h"
#include "util/rng.h"

/* Philox4x32-10 with key and counter 0: the known answer of Random123. */
static void
known_answer(void)
{
    struct rng rng = {0};

    T(rng_u32(&rng) == 0x6627e8d5, "word 0");
    T(rng_u32(&rng) == 0xe169c58d, "word 1");
    T(rng_u32(&rng) == 0xbc57ac4c, "word 2");
    T(rng_u32(&rng) == 0x9b00dbd8, "word 3");
}

static void
streams_differ_in_every_coordinate(void)
{
    static const uint64_t key[][5] = {
        {1, RNG_TEST, 0, 0, 0},          {2, RNG_TEST, 0, 0, 0},
        {1, RNG_INIT, 0, 0, 0},          {1, RNG_TEST, 1, 0, 0},
        {1, RNG_TEST, 0, 1, 0},          {1, RNG_TEST, 0, 0, 1},
        {1, RNG_TEST, 1ull << 32, 0, 0},
    };
    enum { N = sizeof key / sizeof *key };
    uint64_t first[N];
    int equal = 0;

    for (int i = 0; i < N; i++) {
        struct rng rng;

        rng_init(&rng, key[i][0], (enum rng_use)key[i][1], key[i][2], key[i][3],
                 key[i][4]);
        first[i] = rng_u64(&rng);
        for (int j = 0; j < i; j++)
            equal += first[i] == first[j];
    }
    T(!equal, "seed, use and each coordinate change the stream");
}

static void
below_is_even(void)
{
    struct rng rng;
    double count[10] = {0}, chi = 0;
    enum { N = 100000 };

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < N; i++)
        count[rng_below(&rng, 10)]++;
    for (int i = 0; i < 10; i++)
        chi += (count[i] - N / 10.) * (count[i] - N / 10.) / (N / 10.);
    T(chi < 27.9, "chi-square of 9 degrees, .001: %g < 27.9", chi);
}

static void
normal_has_its_moments(void)
{
    struct rng rng;
    double sum = 0, square = 0;
    enum { N = 100000 };

    rng_init(&rng, 1, RNG_TEST, 1, 0, 0);
    for (int i = 0; i < N; i++) {
        double x = rng_normal(&rng);

        sum += x;
        square += x * x;
    }
    T_NEAR(sum / N, 0, 0.0125, "mean, four standard errors");
    T_NEAR(square / N, 1, 0.018, "variance, four standard errors");
}

static void
shuffle_is_a_permutation(void)
{
    struct rng rng;
    int64_t x[100];
    int seen[100] = {0}, moved = 0, missing = 0;

    for (int i = 0; i < 100; i++)
        x[i] = i;
    rng_init(&rng, 1, RNG_TEST, 2, 0, 0);
    rng_shuffle(&rng, 100, x);
    for (int i = 0; i < 100; i++) {
        seen[x[i]]++;
        moved += x[i] != i;
    }
    for (int i = 0; i < 100; i++)
        missing += seen[i] != 1;
    T(!missing, "a shuffled array has each once");
    T(moved > 80, "a shuffled array is in another order");
}

static void
many_are_one_after_the_other(void)
{
    static const size_t counts[] = {1, 3, 8, 64, 65, 200, 1000};
    uint32_t many[1000];
    int same = 1;

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int before = 0; before < 6; before++) {
            struct rng one, all;

            rng_init(&one, 5, RNG_TEST, i, 0, 0);
            rng_init(&all, 5, RNG_TEST, i, 0, 0);
            for (int k = 0; k < before; k++)
                same &= rng_u32(&one) == rng_u32(&all);
            rng_many(&all, counts[i], many);
            for (size_t k = 0; k < counts[i]; k++)
                same &= many[k] == rng_u32(&one);
            same &= rng_u32(&one) == rng_u32(&all);
        }
    T(same, "rng_many() equals repeated rng_u32()");
}

int
main(void)
{
    known_answer();
    streams_differ_in_every_coordinate();
    below_is_even();
    normal_has_its_moments();
    shuffle_is_a_permutation();
    many_are_one_after_the_other();
    return t_done();
}
