#include "moment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "number.h"
#include "util/base64.h"
#include "util/mem.h"

enum { PAIRS = 24, NEGATIVES = 14, BINS = 40 };

/* Two of a batch, and how alike they are. */
struct couple {
    size_t one, other;
    float cosine;
};

void
moment_drawn_release(struct moment_drawn *drawn)
{
    free(drawn->sample);
    free(drawn->epoch);
    free(drawn->row);
    free(drawn->view);
    free(drawn->w);
    free(drawn->cosine);
    free(drawn->outside);
    free(drawn->effective);
    *drawn = (struct moment_drawn){0};
}

void
moment_release(struct moment *moment)
{
    moment_drawn_release(&moment->drawn);
    free(moment->ids);
    free(moment->z);
    *moment = (struct moment){0};
}

size_t
moment_pictures(const struct moment *moment)
{
    return moment->texts ? 1 : moment->views;
}

/* Whether a row counts against another one: of another sample and, with texts,
 * of the other kind. */
static int
is_negative(const struct moment *m, size_t row, size_t other)
{
    return m->ids[row % m->n] != m->ids[other % m->n] &&
           (!m->texts || row / m->n != other / m->n);
}

int
moment_label(const struct data_set *set, int64_t id)
{
    return set && id >= 0 && (size_t)id < data_size(set)
               ? data_label(set, (size_t)id)
               : -1;
}

static int
is_same_class(const struct data_set *set, int64_t one, int64_t other)
{
    const int label = moment_label(set, one);

    return label >= 0 && label == moment_label(set, other);
}

/* [n,n] the views of number 0 against those of number 1, or 0 again. */
static float *
compare_views(const struct moment *m)
{
    const float *second = m->views > 1 ? m->z + m->n * m->d : m->z;
    float *s = mem_array(m->n * m->n, sizeof *s);

    num_gemm_nt(m->n, m->n, m->d, 1, m->z, second, 0, s);
    return s;
}

/* Puts a couple into a list of the most alike, most alike first. */
static void
keep_couple(struct couple *list, size_t *n, const struct couple *new)
{
    size_t at = *n < PAIRS ? *n : PAIRS - 1;

    if (*n == PAIRS && new->cosine <= list[PAIRS - 1].cosine)
        return;
    for (; at && list[at - 1].cosine < new->cosine; at--)
        list[at] = list[at - 1];
    list[at] = *new;
    *n += *n < PAIRS;
}

static json_t *
show_pairs(const struct moment *m, const struct data_set *set, const float *s)
{
    struct couple list[PAIRS];
    json_t *pairs = json_array();
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        for (size_t j = i + 1; j < m->n; j++) {
            const struct couple new = {i, j,
                                       fmaxf(s[i * m->n + j], s[j * m->n + i])};

            if (m->ids[i] != m->ids[j])
                keep_couple(list, &n, &new);
        }
    for (size_t k = 0; k < n; k++) {
        const size_t i = list[k].one, j = list[k].other;

        json_array_append_new(
            pairs, json_pack("[I,I,o,i]", (json_int_t)i, (json_int_t)j,
                             number_show((double)list[k].cosine),
                             is_same_class(set, m->ids[i], m->ids[j])));
    }
    return pairs;
}

/* The share of pairs of different places that are of one class; null where
 * nothing has a class. */
static json_t *
show_same(const struct moment *m, const struct data_set *set)
{
    size_t same = 0, labelled = 0;

    for (size_t i = 0; i < m->n; i++) {
        labelled += moment_label(set, m->ids[i]) >= 0;
        for (size_t j = 0; j < i; j++)
            same += (size_t)is_same_class(set, m->ids[i], m->ids[j]);
    }
    return labelled && m->n > 1 ? number_show(2 * (double)same / (double)m->n /
                                              ((double)m->n - 1))
                                : json_null();
}

static void
show_known(json_t *batch, const struct moment *m, const struct data_set *set)
{
    float *s = compare_views(m);
    uint8_t *byte = mem_array(m->n * m->n, 1);
    json_t *own = json_array();
    char *text;

    for (size_t i = 0; i < m->n; i++)
        json_array_append_new(own, number_show(s[i * m->n + i]));
    for (size_t i = 0; i < m->n * m->n; i++)
        byte[i] = (uint8_t)lrintf(fminf(fmaxf((s[i] + 1) * 127.5F, 0), 255));
    text = base64_encode(byte, m->n * m->n);
    json_object_update_new(batch,
                           json_pack("{s:o s:o s:o s:s}", "pairs",
                                     show_pairs(m, set, s), "own", own, "same",
                                     show_same(m, set), "similarities", text));
    free(text);
    free(byte);
    free(s);
}

json_t *
moment_show(const struct moment *m, const struct data_set *set, size_t tile,
            size_t columns)
{
    json_t *ids = json_array(), *labels = json_array(), *batch;

    for (size_t i = 0; i < m->n; i++) {
        json_array_append_new(ids, json_integer(m->ids[i]));
        json_array_append_new(labels,
                              json_integer(moment_label(set, m->ids[i])));
    }
    batch =
        json_pack("{s:I s:I s:o s:o s:I s:I s:I s:I s:b}", "epoch",
                  (json_int_t)m->epoch, "step", (json_int_t)m->step, "ids", ids,
                  "labels", labels, "views", (json_int_t)m->views, "pictures",
                  (json_int_t)moment_pictures(m), "tile", (json_int_t)tile,
                  "columns", (json_int_t)columns, "known", m->z != NULL);
    if (m->z)
        show_known(batch, m, set);
    return batch;
}

/* Weights of all rows, exp(beta cosine) / sum, 0 of those that are no
 * negatives; and the cosines. */
static void
weigh_rows(const struct moment *m, size_t row, double beta, double *w,
           float *cosine)
{
    const size_t rows = m->views * m->n;
    double sum = 0;

    for (size_t c = 0; c < rows; c++) {
        cosine[c] = (float)num_dot(m->d, m->z + c * m->d, m->z + row * m->d);
        w[c] = is_negative(m, row, c) ? exp(beta * (cosine[c] - 1)) : 0;
        sum += w[c];
    }
    for (size_t c = 0; c < rows && sum > 0; c++)
        w[c] /= sum;
}

/* The heaviest rows that are not listed yet, one after the other. */
static json_t *
show_negatives(const struct moment *m, const struct data_set *set, size_t row,
               const double *w, const float *cosine, double *shown)
{
    const size_t rows = m->views * m->n;
    const int64_t own = m->ids[row % m->n];
    char *listed = mem_array(rows, 1);
    json_t *list = json_array();

    *shown = 0;
    for (int k = 0; k < NEGATIVES; k++) {
        size_t best = rows;

        for (size_t c = 0; c < rows; c++)
            if (!listed[c] && w[c] > 0 && (best == rows || w[c] > w[best]))
                best = c;
        if (best == rows)
            break;
        listed[best] = 1;
        *shown += w[best];
        json_array_append_new(
            list, json_pack("{s:I s:i s:I s:I s:o s:o s:b}", "id",
                            (json_int_t)m->ids[best % m->n], "label",
                            moment_label(set, m->ids[best % m->n]), "view",
                            (json_int_t)(best / m->n), "column",
                            (json_int_t)(best % m->n), "cosine",
                            number_show((double)cosine[best]), "weight",
                            number_show(w[best]), "same",
                            is_same_class(set, own, m->ids[best % m->n])));
    }
    free(listed);
    return list;
}

static json_t *
show_mass(const struct moment *m, const struct data_set *set, int64_t own,
          const double *w, double shown)
{
    double same = 0, squares = 0;

    for (size_t c = 0; c < m->views * m->n; c++) {
        same += is_same_class(set, own, m->ids[c % m->n]) ? w[c] : 0;
        squares += w[c] * w[c];
    }
    return json_pack("{s:f s:o s:f}", "shown", shown, "same",
                     moment_label(set, own) < 0 ? json_null()
                                                : number_show(same),
                     "effective", squares > 0 ? 1 / squares : 0);
}

static json_t *
show_histogram(const struct moment *m, size_t row, const float *cosine)
{
    size_t count[BINS] = {0};
    json_t *list = json_array();

    for (size_t c = 0; c < m->views * m->n; c++)
        if (is_negative(m, row, c)) {
            const double place = ((double)cosine[c] + 1) / 2 * BINS;

            count[(size_t)fmin(fmax(place, 0), BINS - 1)]++;
        }
    for (int b = 0; b < BINS; b++)
        json_array_append_new(list, json_integer((json_int_t)count[b]));
    return list;
}

/* One that a sampler drew, beside its weight in the softmax of the batch. */
static json_t *
show_one_drawn(const struct moment *m, const struct data_set *set, size_t at,
               int64_t own, const double *w)
{
    const struct moment_drawn *d = &m->drawn;
    const int64_t id = d->sample[at];
    const int within = d->row[at] >= 0 && (size_t)d->row[at] < m->views * m->n;

    return json_pack(
        "{s:I s:i s:i s:I s:o s:o s:o s:b s:o}", "id", (json_int_t)id, "label",
        id < 0 ? -1 : moment_label(set, id), "view", (int)d->view[at], "epoch",
        (json_int_t)d->epoch[at], "weight", number_show((double)d->w[at]),
        "cosine", number_show((double)d->cosine[at]), "softmax",
        within ? number_show(w[d->row[at]]) : json_null(), "same",
        id >= 0 && is_same_class(set, own, id), "row",
        within ? json_integer(d->row[at]) : json_null());
}

/* What the sampler drew for a row; null where nothing is known of it. */
static json_t *
show_drawn(const struct moment *m, const struct data_set *set, size_t row,
           const double *w)
{
    const struct moment_drawn *d = &m->drawn;
    json_t *list = json_array();

    for (size_t i = 0; i < d->k; i++)
        if (d->w[row * d->k + i] > 0)
            json_array_append_new(list, show_one_drawn(m, set, row * d->k + i,
                                                       m->ids[row % m->n], w));
    if (!d->k) {
        json_decref(list);
        return json_null();
    }
    return json_pack("{s:s s:I s:o s:o s:o}", "sampler", d->sampler, "columns",
                     (json_int_t)d->columns, "outside",
                     number_show((double)d->outside[row]), "effective",
                     number_show((double)d->effective[row]), "negatives", list);
}

json_t *
moment_anchor(const struct moment *m, const struct data_set *set, size_t row,
              double beta)
{
    const size_t rows = m->views * m->n;
    double *w, own = 1, shown;
    float *cosine;
    json_t *negatives, *anchor;
    int64_t id;

    if (!m->z || row >= rows)
        return NULL;
    id = m->ids[row % m->n];
    w = mem_array(rows, sizeof *w);
    cosine = mem_array(rows, sizeof *cosine);
    weigh_rows(m, row, beta, w, cosine);
    if (m->views > 1)
        own = cosine[(row + m->n) % rows];
    negatives = show_negatives(m, set, row, w, cosine, &shown);
    anchor = json_pack(
        "{s:I s:I s:i s:I s:I s:I s:f s:f s:o s:o s:o s:o}", "row",
        (json_int_t)row, "id", (json_int_t)id, "label", moment_label(set, id),
        "view", (json_int_t)(row / m->n), "epoch", (json_int_t)m->epoch, "step",
        (json_int_t)m->step, "beta", beta, "own", own, "negatives", negatives,
        "mass", show_mass(m, set, id, w, shown), "histogram",
        show_histogram(m, row, cosine), "drawn", show_drawn(m, set, row, w));
    free(cosine);
    free(w);
    return anchor;
}
