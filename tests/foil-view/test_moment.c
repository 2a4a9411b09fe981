#include "foil-view/moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "t.h"
#include "util/base64.h"
#include "util/mem.h"
#include "util/rng.h"

/* A batch of random unit rows; the last two are of one sample. */
static struct moment
make_moment(size_t n, size_t views, size_t d)
{
    struct moment m = {.epoch = 3, .step = 5, .n = n, .views = views, .d = d};
    struct rng rng;

    m.ids = mem_array(n, sizeof *m.ids);
    m.z = mem_array(views * n * d, sizeof *m.z);
    rng_init(&rng, 1, RNG_TEST, n, d, 0);
    for (size_t i = 0; i < n; i++)
        m.ids[i] = (int64_t)(10 * i);
    if (n > 1)
        m.ids[n - 1] = m.ids[n - 2];
    for (size_t i = 0; i < views * n * d; i++)
        m.z[i] = (float)rng_normal(&rng);
    num_unit_rows(views * n, d, m.z, m.z, NULL);
    return m;
}

static double
cosine_of(const struct moment *m, size_t row, size_t other)
{
    double sum = 0;

    for (size_t k = 0; k < m->d; k++)
        sum += (double)m->z[row * m->d + k] * m->z[other * m->d + k];
    return sum;
}

/* The listed pairs are those of different samples that are most alike: there
 * are as many pairs above the least of them as are listed before it. */
static void
hardest_pairs_are_listed(size_t n, size_t views)
{
    struct moment m = make_moment(n, views, 8);
    json_t *batch = moment_show(&m, NULL, 32, 32);
    const json_t *pairs = json_object_get(batch, "pairs");
    const size_t listed = json_array_size(pairs), all = n * (n - 1) / 2 - 1;
    const size_t second = views > 1 ? n : 0;
    double least = 1;
    size_t above = 0;
    int own = 0;

    for (size_t k = 0; k < listed; k++) {
        const json_t *pair = json_array_get(pairs, k);
        const size_t i = (size_t)json_integer_value(json_array_get(pair, 0));
        const size_t j = (size_t)json_integer_value(json_array_get(pair, 1));

        own |= m.ids[i] == m.ids[j];
        least = fmin(least, fmax(cosine_of(&m, i, second + j),
                                 cosine_of(&m, j, second + i)));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            above += m.ids[i] != m.ids[j] &&
                     fmax(cosine_of(&m, i, second + j),
                          cosine_of(&m, j, second + i)) > least + 1e-6;
    T(listed == (all < 24 ? all : 24) && !own && above < listed,
      "%zu pairs of %zu samples, %zu views: none is left out that is harder",
      listed, n, views);
    json_decref(batch);
    moment_release(&m);
}

static void
weights_are_the_softmax(double beta)
{
    struct moment m = make_moment(20, 2, 6);
    json_t *anchor = moment_anchor(&m, NULL, 23, beta);
    const json_t *list = json_object_get(anchor, "negatives");
    const double effective = json_number_value(
        json_object_get(json_object_get(anchor, "mass"), "effective"));
    double sum = 0, squares = 0, worst = 0, before = 1;
    int falls = 1, own = 0;

    for (size_t c = 0; c < 40; c++)
        if (m.ids[c % 20] != m.ids[3])
            sum += exp(beta * cosine_of(&m, 23, c));
    for (size_t c = 0; c < 40; c++)
        if (m.ids[c % 20] != m.ids[3])
            squares += pow(exp(beta * cosine_of(&m, 23, c)) / sum, 2);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *item = json_array_get(list, k);
        const size_t c =
            (size_t)(json_integer_value(json_object_get(item, "view")) * 20 +
                     json_integer_value(json_object_get(item, "column")));
        const double w = json_number_value(json_object_get(item, "weight"));

        own |= m.ids[c % 20] == m.ids[3];
        falls &= w <= before;
        before = w;
        worst =
            fmax(worst, fabs(w / (exp(beta * cosine_of(&m, 23, c)) / sum) - 1));
    }
    T(json_array_size(list) == 14 && falls && !own && worst < 1e-4,
      "beta %g: 14 weights, within %.1e of the softmax in double", beta, worst);
    T(fabs(effective * squares - 1) < 1e-4, "as if %.2f counted", effective);
    T(json_is_null(json_object_get(json_object_get(anchor, "mass"), "same")),
      "nothing is said of classes where there are none");
    json_decref(anchor);
    moment_release(&m);
}

static void
edges_are_answered(void)
{
    struct moment m = make_moment(2, 1, 3), bare = make_moment(4, 2, 3);
    json_t *batch, *anchor;

    T(!moment_anchor(&m, NULL, 2, 5), "there is no row behind the last");
    anchor = moment_anchor(&m, NULL, 1, 5);
    T(anchor && !json_array_size(json_object_get(anchor, "negatives")),
      "where all are of one sample there are no negatives");
    json_decref(anchor);
    free(bare.z);
    bare.z = NULL;
    batch = moment_show(&bare, NULL, 32, 32);
    T(json_is_false(json_object_get(batch, "known")) &&
          !json_object_get(batch, "pairs"),
      "a batch without embeddings has no pairs");
    T(!moment_anchor(&bare, NULL, 0, 5), "and no anchors");
    json_decref(batch);
    moment_release(&m);
    moment_release(&bare);
}

/* Images against texts: rows 0 .. 9 and 10 .. 19. */
static void
texts_count_for_images(void)
{
    struct moment m = make_moment(10, 2, 6);
    json_t *batch, *anchor;
    const json_t *list;
    double sum = 0, worst = 0;
    int other = 1;

    m.texts = 1;
    for (size_t c = 10; c < 20; c++)
        sum += c == 13 ? 0 : exp(5 * cosine_of(&m, 3, c));
    anchor = moment_anchor(&m, NULL, 3, 5);
    list = json_object_get(anchor, "negatives");
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *item = json_array_get(list, k);
        const size_t c =
            10 + (size_t)json_integer_value(json_object_get(item, "column"));

        other &= json_integer_value(json_object_get(item, "view")) == 1;
        worst = fmax(worst,
                     fabs(json_number_value(json_object_get(item, "weight")) /
                              (exp(5 * cosine_of(&m, 3, c)) / sum) -
                          1));
    }
    T(json_array_size(list) == 9 && other && worst < 1e-4,
      "an image has texts as its negatives, within %.1e", worst);
    json_decref(anchor);
    batch = moment_show(&m, NULL, 32, 32);
    T(json_integer_value(json_object_get(batch, "pictures")) == 1 &&
          json_integer_value(json_object_get(batch, "views")) == 2,
      "and one picture");
    json_decref(batch);
    moment_release(&m);
}

/* Row 1 drew row 0, a sample from outside, and a feature of nobody. */
static struct moment_drawn
make_drawn(void)
{
    const size_t n = 8 * 3;
    struct moment_drawn d = {"emc2 1",
                             19,
                             3,
                             mem_array(n, sizeof *d.sample),
                             mem_array(n, sizeof *d.epoch),
                             mem_array(n, sizeof *d.row),
                             mem_array(n, sizeof *d.view),
                             mem_array(n, sizeof *d.w),
                             mem_array(n, sizeof *d.cosine),
                             mem_array(8, sizeof *d.outside),
                             mem_array(8, sizeof *d.effective)};

    memcpy(d.sample + 3, (int64_t[]){0, 77, -1}, 3 * sizeof *d.sample);
    memcpy(d.row + 3, (int32_t[]){0, 9, -1}, 3 * sizeof *d.row);
    memcpy(d.w + 3, (float[]){.5F, .375F, .125F}, 3 * sizeof *d.w);
    d.outside[1] = .5F;
    return d;
}

static double
number_of(const json_t *list, size_t i, const char *name)
{
    return json_number_value(json_object_get(json_array_get(list, i), name));
}

static void
drawn_is_beside_the_softmax(void)
{
    struct moment m = make_moment(4, 2, 8);
    json_t *anchor = moment_anchor(&m, NULL, 1, 5), *drawn, *list;
    double sum = 0;

    T(json_is_null(json_object_get(anchor, "drawn")), "no sampler: null");
    json_decref(anchor);
    for (size_t c = 0; c < 8; c++)
        sum += c % 4 == 1 ? 0 : exp(5 * cosine_of(&m, 1, c));
    m.drawn = make_drawn();
    anchor = moment_anchor(&m, NULL, 1, 5);
    drawn = json_object_get(anchor, "drawn");
    list = json_object_get(drawn, "negatives");
    T(json_array_size(list) == 3 && number_of(list, 1, "weight") == .375 &&
          json_number_value(json_object_get(drawn, "outside")) == .5,
      "with a sampler: what it drew");
    T(fabs(number_of(list, 0, "softmax") * sum / exp(5 * cosine_of(&m, 1, 0)) -
           1) < 1e-4,
      "beside the softmax");
    T(json_is_null(json_object_get(json_array_get(list, 1), "softmax")) &&
          json_is_null(json_object_get(json_array_get(list, 2), "row")),
      "which there is of the batch alone");
    json_decref(anchor);
    moment_release(&m);
}

int
main(void)
{
    hardest_pairs_are_listed(3, 2);
    hardest_pairs_are_listed(8, 2);
    hardest_pairs_are_listed(60, 2);
    hardest_pairs_are_listed(60, 1);
    weights_are_the_softmax(5);
    weights_are_the_softmax(14.28);
    edges_are_answered();
    texts_count_for_images();
    drawn_is_beside_the_softmax();
    return t_done();
}
