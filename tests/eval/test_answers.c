/* Retrieval with several right answers, against the formula. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cosine.h"
#include "eval/retrieve.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* n images with `each` captions, except some without; some captions are equal,
 * with equal vectors. */
struct pairs {
    size_t n, m, d;
    float *image, *text;
    int64_t *id, *owner, *group;
};

static struct pairs
make(size_t n, size_t each, size_t d)
{
    struct pairs p = {.n = n, .d = d};
    struct rng rng;

    p.image = mem_array(n * d, sizeof *p.image);
    p.text = mem_array(n * each * d, sizeof *p.text);
    p.id = mem_array(n, sizeof *p.id);
    p.owner = mem_array(n * each, sizeof *p.owner);
    p.group = mem_array(n * each, sizeof *p.group);
    rng_init(&rng, 1, RNG_TEST, n, d, each);
    for (size_t i = 0; i < n; i++) {
        p.id[i] = (int64_t)(1000 - 3 * i);
        for (size_t k = 0; k < d; k++)
            p.image[i * d + k] = (float)rng_normal(&rng);
        for (size_t c = 0; c < each && i % 7 != 3; c++, p.m++) {
            p.owner[p.m] = p.id[i];
            p.group[p.m] = (int64_t)p.m;
            for (size_t k = 0; k < d; k++)
                p.text[p.m * d + k] =
                    p.image[i * d + k] + 2 * (float)rng_normal(&rng);
            if (p.m % 5 == 4) { // the same words as two before
                p.group[p.m] = p.group[p.m - 2];
                memcpy(p.text + p.m * d, p.text + (p.m - 2) * d,
                       d * sizeof *p.text);
            }
        }
    }
    return p;
}

static void
release(struct pairs *p)
{
    free(p->image);
    free(p->text);
    free(p->id);
    free(p->owner);
    free(p->group);
}

/* Returns 1 if caption j answers image i: it is its own, or equal to one of its
 * own. */
static int
answers(const struct pairs *p, size_t i, size_t j, int equal)
{
    int yes = p->owner[j] == p->id[i];

    for (size_t k = 0; equal && k < p->m; k++)
        yes |= p->owner[k] == p->id[i] && p->group[k] == p->group[j];
    return yes;
}

/* Computes the rank of a query among `count` candidates, naively; 0: no
 * answer. */
static double
naive(const struct pairs *p, size_t query, int of_texts, int equal)
{
    const size_t count = of_texts ? p->m : p->n, d = p->d;
    double best = -INFINITY, rank = 1;

    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < count; j++) {
            const int own = of_texts ? answers(p, query, j, equal)
                                     : answers(p, j, query, equal);
            const double s =
                of_texts ? cosine(d, p->image + query * d, p->text + j * d)
                         : cosine(d, p->text + query * d, p->image + j * d);

            if (!pass && own)
                best = fmax(best, s);
            if (pass && !own)
                rank += fabs(s - best) < 1e-13 ? .5 : s > best;
        }
    return best > -INFINITY ? rank : 0;
}

/* Joined answers: each caption answers all images with an equal one. */
static struct eval_answers
images_of(const struct pairs *p, int equal)
{
    struct eval_answers a = eval_answers_by_key(p->m, p->owner, p->n, p->id);

    if (equal) {
        struct eval_answers texts =
            eval_answers_by_key(p->m, p->group, p->m, p->group);

        eval_answers_join(&texts, &a);
        eval_answers_release(&a);
        return texts;
    }
    return a;
}

static void
agrees_with_naive(size_t n, size_t each, size_t d, int equal)
{
    struct pairs p = make(n, each, d);
    struct eval_answers texts = eval_answers_by_key(p.n, p.id, p.m, p.owner);
    struct eval_answers images = images_of(&p, equal);
    double *rank = mem_array(p.n + p.m, sizeof *rank);
    size_t wrong = 0;

    if (equal) {
        struct eval_answers alike =
            eval_answers_by_key(p.m, p.group, p.m, p.group);

        eval_answers_join(&texts, &alike);
        eval_answers_release(&alike);
    }
    eval_answers_rank(&texts, p.m, d, p.image, p.text, EVAL_PAIR_COSINE, rank);
    eval_answers_rank(&images, p.n, d, p.text, p.image, EVAL_PAIR_COSINE,
                      rank + p.n);
    for (size_t i = 0; i < p.n; i++)
        wrong += rank[i] != naive(&p, i, 1, equal);
    for (size_t j = 0; j < p.m; j++)
        wrong += rank[p.n + j] != naive(&p, j, 0, equal);
    T(wrong == 0, "%zu images, %zu captions, d %zu, rule %s: %zu ranks differ",
      p.n, p.m, d, equal ? "equal" : "strict", wrong);
    free(rank);
    eval_answers_release(&texts);
    eval_answers_release(&images);
    release(&p);
}

static void
chance_is_the_share_of_answers(void)
{
    const int64_t query[] = {1, 2, 9}, candidate[] = {2, 1, 1, 3};
    struct eval_answers a = eval_answers_by_key(3, query, 4, candidate);

    T(a.offset[1] == 2 && a.j[0] == 1 && a.j[1] == 2, "two answers, rising");
    T(a.offset[3] == 3, "one query has none");
    T_NEAR(eval_answers_chance(&a, 4), (2.0 / 4 + 1.0 / 4) / 2, 1e-12,
           "chance is over queries with an answer");
    eval_answers_release(&a);
}

static void
rows_of_zeros_are_bearable(void)
{
    const float u[] = {0, 0}, v[] = {0, 0, 1, 0, 0, 0};
    const int64_t query[] = {0}, candidate[] = {0, 1, 2};
    struct eval_answers a = eval_answers_by_key(1, query, 3, candidate);
    double rank;

    eval_answers_rank(&a, 3, 2, u, v, EVAL_PAIR_COSINE, &rank);
    T_NEAR(rank, 2, 0, "all scores are 0: the expected rank of a random order");
    eval_answers_release(&a);
}

int
main(void)
{
    for (int equal = 0; equal < 2; equal++) {
        agrees_with_naive(1, 1, 1, equal);
        agrees_with_naive(8, 3, 2, equal);
        agrees_with_naive(60, 5, 7, equal);
        agrees_with_naive(540, 1, 5, equal);
    }
    chance_is_the_share_of_answers();
    rows_of_zeros_are_bearable();
    return t_done();
}
