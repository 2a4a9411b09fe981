/* Sums over ranks, which are threads here. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "threads.h"
#include "util/mem.h"
#include "util/rng.h"

enum { TERMS = 8, LONGEST = 1000 };

static float terms[TERMS][LONGEST];

/* What each rank has: its share of the terms, and the sum in the end. */
struct job {
    size_t n;
    float x[LONGEST];
};

/* The tree over terms [from,to) of element i. */
static float
sum_naively(size_t from, size_t to, size_t i)
{
    const size_t half = (from + to) / 2;

    return to - from == 1
               ? terms[from][i]
               : sum_naively(from, half, i) + sum_naively(half, to, i);
}

static void
sum_terms(const struct ranks *ranks, void *data)
{
    struct job *job = data;
    const size_t share = TERMS / ranks->size, from = share * ranks->rank;
    float *work = mem_array(job->n / 2 + 1, sizeof *work);

    for (size_t i = 0; i < job->n; i++)
        job->x[i] = sum_naively(from, from + share, i);
    ranks_sum(ranks, job->x, job->n, work);
    free(work);
}

static struct job jobs[TERMS];
static void *const each[TERMS] = {jobs,     jobs + 1, jobs + 2, jobs + 3,
                                  jobs + 4, jobs + 5, jobs + 6, jobs + 7};

static void
fill_terms(void)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t k = 0; k < TERMS; k++)
        for (size_t i = 0; i < LONGEST; i++)
            terms[k][i] = (float)(rng_normal(&rng) * (i % 7 ? 1 : 1e6));
}

static size_t
sum_by(size_t size, size_t n)
{
    for (size_t r = 0; r < TERMS; r++)
        jobs[r].n = n;
    return threads_run(size, sum_terms, each);
}

static int
all_have(size_t size, size_t n, const float *want)
{
    int all = 1;

    for (size_t r = 0; r < TERMS; r++)
        all &= r >= size || !memcmp(jobs[r].x, want, n * sizeof *want);
    return all;
}

static void
sums_do_not_depend_on_ranks(void)
{
    static const size_t lengths[] = {1, 2, 3, 5, 8, 17, 999, LONGEST};
    float want[LONGEST];

    fill_terms();
    for (size_t i = 0; i < LONGEST; i++)
        want[i] = sum_naively(0, TERMS, i);
    for (size_t size = 1; size <= TERMS; size *= 2)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            const size_t n = lengths[k];

            T(sum_by(size, n) != (size_t)-1,
              "%zu ranks agree about their lengths, %zu numbers", size, n);
            T(all_have(size, n, want),
              "%zu ranks have the tree's bits, %zu numbers", size, n);
        }
}

/* Pieces of 1, 2, .. numbers, the last ones first, under way together. */
static void
sum_pieces(const struct ranks *ranks, void *data)
{
    struct job *job = data;
    const size_t share = TERMS / ranks->size, from = share * ranks->rank;
    struct ranks_pieces pieces;
    float work[LONGEST];
    size_t gone = LONGEST;

    for (size_t i = 0; i < LONGEST; i++)
        job->x[i] = sum_naively(from, from + share, i);
    ranks_pieces_init(&pieces, ranks, work);
    for (size_t n = 1; gone; n = gone < 2 * n ? gone : n + 1) {
        gone -= n;
        ranks_pieces_begin(&pieces, job->x + gone, n);
        ranks_pieces_progress(&pieces);
    }
    ranks_pieces_end(&pieces);
}

static void
pieces_have_the_sum_of_the_whole(void)
{
    float want[LONGEST];

    for (size_t i = 0; i < LONGEST; i++)
        want[i] = sum_naively(0, TERMS, i);
    for (size_t size = 1; size <= TERMS; size *= 2) {
        T(threads_run(size, sum_pieces, each) ==
              2 * (size - 1) * LONGEST * sizeof(float),
          "pieces by %zu ranks: no byte more", size);
        T(all_have(size, LONGEST, want), "pieces have the bits of the tree");
    }
}

static double
add_naively(size_t from, size_t to, size_t i)
{
    const size_t half = (from + to) / 2;

    return to - from == 1
               ? terms[from][i] / 3.
               : add_naively(from, half, i) + add_naively(half, to, i);
}

static void
add_terms(const struct ranks *ranks, void *data)
{
    const size_t share = TERMS / ranks->size, from = share * ranks->rank;
    double *x = data, work[LONGEST];

    for (size_t i = 0; i < LONGEST; i++)
        x[i] = add_naively(from, from + share, i);
    ranks_add(ranks, x, LONGEST, work);
}

static void
sums_in_double_do_not_either(void)
{
    static double x[TERMS][LONGEST], want[LONGEST];
    void *own[TERMS];

    for (size_t i = 0; i < LONGEST; i++)
        want[i] = add_naively(0, TERMS, i);
    for (size_t r = 0; r < TERMS; r++)
        own[r] = x[r];
    for (size_t size = 1, rounds = 0; size <= TERMS; size *= 2, rounds++) {
        int all = 1;

        T(threads_run(size, add_terms, own) == size * rounds * sizeof want,
          "%zu ranks exchange doubles log2 times", size);
        for (size_t r = 0; r < size; r++)
            all &= !memcmp(own[r], want, sizeof want);
        T(all, "%zu ranks have the tree's bits in double", size);
    }
}

/* Whole numbers have one sum in whatever order. */
static void
whole_numbers_have_their_sum(void)
{
    float want[LONGEST];

    for (size_t i = 0; i < LONGEST; i++)
        want[i] = (float)(36 * (i + 1));
    for (size_t k = 0; k < TERMS; k++)
        for (size_t i = 0; i < LONGEST; i++)
            terms[k][i] = (float)((k + 1) * (i + 1));
    for (size_t size = 1; size <= TERMS; size *= 2) {
        sum_by(size, LONGEST);
        T(all_have(size, LONGEST, want),
          "1 + .. + 8 times each element, of %zu ranks", size);
    }
}

/* Each sends (W - 1) / W n floats on the way there, and as many back. */
static void
bytes_are_those_of_the_formula(void)
{
    for (size_t size = 1; size <= TERMS; size *= 2) {
        const size_t n = 64;

        T(sum_by(size, n) == 2 * (size - 1) * n * sizeof(float),
          "%zu ranks send no byte more", size);
    }
}

static int ahead; // they are sent while ranks could compute

static void
carry_pieces(const struct ranks *ranks, void *data)
{
    const size_t from[] = {0, 2, 2, 7, 8};
    char *text = data, own[8];
    char *mine = ranks->rank ? own : text;
    const size_t n = from[ranks->rank + 1] - from[ranks->rank];

    if (ahead) {
        struct ranks_send send;

        ranks_send_begin(&send, ranks, RANKS_SEND, text, from, mine);
        ranks_send_progress(&send);
        ranks_send_end(&send);
        ranks_send_end(&send);
    } else {
        ranks->scatter(ranks->self, text, from, mine);
    }
    for (size_t i = 0; i < n; i++)
        mine[i] = (char)(mine[i] + (int)ranks->rank);
    ranks->gather(ranks->self, mine, from, text);
    ranks->bcast(ranks->self, text, 9);
}

static void
pieces_come_and_go(void)
{
    for (ahead = 0; ahead < 2; ahead++) {
        char text[4][9] = {"aabbbbbd"};
        void *const lines[] = {text[0], text[1], text[2], text[3]};

        threads_run(4, carry_pieces, lines);
        T(!strcmp(text[0], "aadddddg"),
          "pieces of 2, 0, 5 and 1 are changed by those who have them");
        T(!strcmp(text[1], text[0]) && !strcmp(text[3], text[0]),
          "all ranks have the changed pieces");
    }
}

int
main(void)
{
    sums_do_not_depend_on_ranks();
    sums_in_double_do_not_either();
    pieces_have_the_sum_of_the_whole();
    whole_numbers_have_their_sum();
    bytes_are_those_of_the_formula();
    pieces_come_and_go();
    return t_done();
}
