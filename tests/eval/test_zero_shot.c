/* Classification by texts, against the formula. */
#include <stdlib.h>
#include <string.h>

#include "cosine.h"
#include "eval/retrieve.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* Images around the text of their class; the m texts are of classes m, m - 1,
 * ... 1, and those of 0 and 2 are equal if there are that many. */
struct scene {
    size_t n, m, d, classes;
    float *x, *v;
    int64_t *label, *class;
};

static struct scene
make(size_t n, size_t m, size_t d)
{
    struct scene s = {.n = n, .m = m, .d = d, .classes = m + 1};
    struct rng rng;

    s.x = mem_array(n * d, sizeof *s.x);
    s.v = mem_array(m * d, sizeof *s.v);
    s.label = mem_array(n, sizeof *s.label);
    s.class = mem_array(m, sizeof *s.class);
    rng_init(&rng, 1, RNG_TEST, n, m, d);
    for (size_t j = 0; j < m; j++) {
        s.class[j] = (int64_t)(m - j);
        for (size_t k = 0; k < d; k++)
            s.v[j * d + k] = (float)rng_normal(&rng);
    }
    if (m > 2)
        memcpy(s.v, s.v + 2 * d, d * sizeof *s.v);
    for (size_t i = 0; i < n; i++) {
        s.label[i] = (int64_t)(i % s.classes); // class 0 has no text
        for (size_t k = 0; k < d; k++) {
            s.x[i * d + k] = 2 * (float)rng_normal(&rng);
            if (s.label[i])
                s.x[i * d + k] += s.v[(m - (size_t)s.label[i]) * d + k];
        }
    }
    return s;
}

static void
release(struct scene *s)
{
    free(s->x);
    free(s->v);
    free(s->label);
    free(s->class);
}

/* Computes the rank of the class of an image; 0 if it has no text. */
static double
naive(const struct scene *s, size_t i)
{
    double own = -2, rank = 1;

    for (size_t j = 0; j < s->m; j++)
        if (s->class[j] == s->label[i])
            own = cosine(s->d, s->x + i * s->d, s->v + j * s->d);
    for (size_t j = 0; j < s->m; j++)
        if (s->class[j] != s->label[i]) {
            const double c = cosine(s->d, s->x + i * s->d, s->v + j * s->d);

            rank += fabs(c - own) < 1e-13 ? .5 : c > own;
        }
    return own > -2 ? rank : 0;
}

static void
agrees_with_naive(size_t n, size_t m, size_t d)
{
    struct scene s = make(n, m, d);
    struct eval_hits *want = mem_array(s.classes, sizeof *want);
    struct eval_hits *got = mem_array(s.classes, sizeof *got);
    size_t right = 0;

    for (size_t i = 0; i < n; i++) {
        const double rank = naive(&s, i);

        want[s.label[i]].images++;
        want[s.label[i]].at1 += rank > 0 && rank <= 1;
        want[s.label[i]].at3 += rank > 0 && rank <= 3;
        want[s.label[i]].at5 += rank > 0 && rank <= 5;
        right += rank > 0 && rank <= 1;
    }
    eval_zero_shot(d, n, s.x, s.label, m, s.v, s.class, s.classes, got);
    T(!memcmp(want, got, s.classes * sizeof *got),
      "%zu images, %zu texts of %zu: the formula's hits (%zu at 1)", n, m, d,
      right);
    T(got[0].at1 == 0 && got[0].at5 == 0,
      "a class without a text is never right");
    free(want);
    free(got);
    release(&s);
}

static void
texts_in_another_order_find_the_same(void)
{
    struct scene s = make(300, 8, 16);
    struct eval_hits a[9], b[9];

    eval_zero_shot(16, s.n, s.x, s.label, 8, s.v, s.class, 9, a);
    for (size_t j = 0; j < 4; j++) {
        const int64_t class = s.class[j];
        float row[16];

        memcpy(row, s.v + j * 16, sizeof row);
        memcpy(s.v + j * 16, s.v + (7 - j) * 16, sizeof row);
        memcpy(s.v + (7 - j) * 16, row, sizeof row);
        s.class[j] = s.class[7 - j];
        s.class[7 - j] = class;
    }
    eval_zero_shot(16, s.n, s.x, s.label, 8, s.v, s.class, 9, b);
    T(!memcmp(a, b, sizeof a), "texts in another order find the same");
    release(&s);
}

static void
equal_texts_predict_no_class(void)
{
    const float x[] = {1, 0}, v[] = {1, 0, 1, 0, 1, 0};
    const int64_t label[] = {1}, class[] = {0, 1, 2};
    struct eval_hits hits[3];

    eval_zero_shot(2, 1, x, label, 3, v, class, 3, hits);
    T(hits[1].images == 1 && hits[1].at1 == 0 && hits[1].at5 == 1,
      "three equal texts: rank 2, none at 1");
    eval_zero_shot(2, 1, x, label, 1, v, label, 3, hits);
    T(hits[1].at1 == 1, "a text alone is right");
}

int
main(void)
{
    agrees_with_naive(1, 1, 3);
    agrees_with_naive(40, 3, 4);
    agrees_with_naive(700, 8, 16);
    agrees_with_naive(600, 40, 8);
    texts_in_another_order_find_the_same();
    equal_texts_predict_no_class();
    return t_done();
}
