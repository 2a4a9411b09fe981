#include "num/vec.h"
#include "sample/source.h"

/* The sample behind a column of the weights. */
struct column {
    int64_t sample, epoch;
    int32_t row, view;
    const float *z;
};

static struct column
name_column(const struct batch *s, const struct weights *weights, size_t c)
{
    const size_t n = s->v * s->b, extra = c - n;
    struct sample_state is;

    if (c >= n + s->extra.n)
        return (struct column){
            -1, -1, -1, -1, weights->outside + (extra - s->extra.n) * s->dim};
    is = sample_step_state(s, c);
    return (struct column){is.id, is.epoch, (int32_t)c, (int32_t)is.view,
                           c < n ? s->z + c * s->dim
                                 : s->extra.z + extra * s->dim};
}

/* Inserts a column into a descending list of n, of at most k; returns the new
 * length. */
static size_t
insert_column(size_t k, size_t *list, size_t n, const float *w, size_t c)
{
    size_t at = n < k ? n : k - 1;

    if (!(w[c] > 0) || (n == k && w[c] <= w[list[k - 1]]))
        return n;
    for (; at && w[list[at - 1]] < w[c]; at--)
        list[at] = list[at - 1];
    list[at] = c;
    return n < k ? n + 1 : k;
}

/* Writes the n columns of row r's list to the arrays, and fills the others of k
 * with "no negative". */
static void
name_list(const struct batch *s, const struct weights *weights, size_t r,
          size_t n, const size_t *list, struct heaviest *to)
{
    for (size_t i = 0; i < to->k; i++) {
        const size_t at = r * to->k + i;
        const struct column column =
            i < n ? name_column(s, weights, list[i])
                  : (struct column){-1, -1, -1, -1, NULL};

        to->row[at] = column.row;
        to->sample[at] = column.sample;
        to->view[at] = column.view;
        to->epoch[at] = column.epoch;
        to->w[at] = i < n ? weights->w[r * weights->columns + list[i]] : 0;
        to->cosine[at] =
            i < n ? (float)num_dot(s->dim, s->z + r * s->dim, column.z) : 0;
    }
}

void
sample_heaviest(const struct batch *s, const struct weights *weights,
                struct heaviest *to)
{
    size_t list[HEAVIEST_MAX];

    REQUIRE(to->k >= 1 && to->k <= HEAVIEST_MAX);
    for (size_t r = 0; r < s->v * s->b; r++) {
        const float *w = weights->w + r * weights->columns;
        size_t n = 0;
        double sum = 0, squares = 0, far = 0;

        for (size_t c = 0; c < weights->columns; c++)
            n = insert_column(to->k, list, n, w, c);
        name_list(s, weights, r, n, list, to);
        for (size_t c = 0; c < weights->columns; c++) {
            sum += w[c];
            squares += (double)w[c] * w[c];
            far += c >= s->v * s->b ? w[c] : 0;
        }
        to->outside[r] = (float)far;
        to->effective[r] = squares > 0 ? (float)(sum * sum / squares) : 0;
    }
}
