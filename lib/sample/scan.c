#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/exp.h"
#include "util/clones.h"
#include "util/mem.h"

#include "scan.h"

/* Record the chain where it sits; returns how often that is nowhere. */
static size_t
record_chain(const struct sample_chain *chain, size_t times, uint32_t *count)
{
    if (chain->at == SAMPLE_OUTSIDE)
        return times;
    if (count)
        count[chain->at] += (uint32_t)times;
    return 0;
}

/* accept iff U < exp(l' - l), and -log U is Exp(1): iff l' - log U > l. */
size_t
sample_scan(size_t length, const uint32_t *column, const double *luck,
            const double *score, struct sample_chain *chain, uint32_t *count)
{
    size_t outside = 0, since = 0; // recorded up to here

    for (size_t k = 0; k < length; k++) {
        const uint32_t c = column[k];

        if (!(score[c] + luck[k] > chain->score))
            continue;
        outside += record_chain(chain, k - since, count);
        since = k;
        chain->at = (long)c;
        chain->score = score[c];
        chain->accepted++;
    }
    return outside + record_chain(chain, length - since, count);
}

void
sample_scanner_init(struct sample_scanner *scanner, double beta, size_t length)
{
    const size_t room = sample_scanner_room(length);

    *scanner = (struct sample_scanner){
        .beta = beta,
        .length = length,
        .column = mem_array(room, sizeof *scanner->column),
        .bits = mem_array(room, sizeof *scanner->bits),
        .to = mem_array(room, sizeof *scanner->to),
        .sure = mem_array(room, sizeof *scanner->sure),
        .reach = mem_array(room, sizeof *scanner->reach),
        .taken = mem_array(room, sizeof *scanner->taken),
    };
}

void
sample_scanner_release(struct sample_scanner *scanner)
{
    free(scanner->column);
    free(scanner->bits);
    free(scanner->to);
    free(scanner->sure);
    free(scanner->reach);
    free(scanner->taken);
    *scanner = (struct sample_scanner){0};
}

/* A whole number that is larger for a larger x: a chain compares and chooses
 * whole numbers, as a comparison of floats takes three times as long. */
static inline int32_t
order_of_float(float x)
{
    int32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits ^ (-(int32_t)(bits < 0) & INT32_MAX);
}

/* The nearest finite number: the same for two that are too large says that they
 * may be equal, which double decides. */
static inline float
finite_of(float x)
{
    const float low = num_choose(x > -FLT_MAX, x, -FLT_MAX);

    return num_choose(low < FLT_MAX, low, FLT_MAX);
}

/* log m of m in [1,2), off by 7e-5 at most (Chebyshev). */
static inline float
log_about(float m)
{
    const float t = m - 1;

    return 6.9446e-5f +
           t * (0.9962619f +
                t * (-0.4664424f + t * (0.2186655f - 0.0554593f * t)));
}

/* -log U is (32 - e) log 2 - log m, with U = m 2^(e - 32).  What is closer than
 * `off` times 32 + |beta s| to what decides is left to accepts_proposal(). */
static UTIL_CLONES(void, bound_scores,
                   (size_t room, const uint32_t *column, const uint32_t *bits,
                    float beta, float off, const float *s, int32_t *most,
                    int32_t *sure, int32_t *reach),
                   (room, column, bits, beta, off, s, most, sure, reach))
{
    for (size_t k = 0; k < room; k++) {
        const float to = finite_of(beta * s[(int32_t)column[k]]);
        const float u = (float)bits[k] + 0.5f;
        const float slack = off * (32 + fabsf(to));
        uint32_t word, mantissa;
        float m, luck;

        memcpy(&word, &u, sizeof word);
        mantissa = (word & 0x7fffff) | 0x3f800000;
        memcpy(&m, &mantissa, sizeof m);
        luck = 0.6931472f * (float)(159 - (int)(word >> 23)) - log_about(m);
        most[k] = order_of_float(to);
        sure[k] = order_of_float(to + luck - slack);
        reach[k] = order_of_float(to + luck + slack);
    }
}

void
sample_scanner_bound(struct sample_scanner *scanner, const float *s)
{
    const float beta = scanner->beta < FLT_MAX ? (float)scanner->beta : FLT_MAX;

    // where beta s may be beyond floats, double decides all
    bound_scores(sample_scanner_room(scanner->length), scanner->column,
                 scanner->bits, beta, beta < 1e30f ? 4e-6f : INFINITY, s,
                 scanner->to, scanner->sure, scanner->reach);
}

/* Whether a chain with that score accepts the k-th proposal. */
static int
accepts_proposal(const struct sample_scanner *scanner, const float *s, size_t k,
                 double score)
{
    const double to = sample_score(scanner->beta, s[scanner->column[k]]);
    const double u = (scanner->bits[k] + 0.5) * 0x1p-32;

    return to >= score || to - log(u) > score;
}

/* Each second proposal may be accepted: there is a branch only where double
 * decides, and none on what is accepted. */
size_t
sample_scanner_scan(struct sample_scanner *scanner, const float *s, size_t from,
                    size_t to, struct sample_chain *chain)
{
    const int32_t *most = scanner->to, *sure = scanner->sure;
    const int32_t *reach = scanner->reach;
    const uint32_t *column = scanner->column;
    uint32_t *taken = scanner->taken;
    int32_t score = chain->score == -INFINITY
                        ? INT32_MIN
                        : order_of_float(finite_of((float)chain->score));
    size_t n = 0;

    for (size_t k = from; k < to; k++) {
        const int32_t next = most[k];
        int yes = score <= sure[k];

        if (yes != (score <= reach[k]))
            yes = accepts_proposal(
                scanner, s, k,
                n ? sample_score(scanner->beta, s[column[taken[n - 1]]])
                  : chain->score);
        taken[n] = (uint32_t)k;
        n += (size_t)yes;
        score = yes ? next : score;
    }
    if (n) {
        chain->at = (long)column[taken[n - 1]];
        chain->score = sample_score(scanner->beta, s[chain->at]);
        chain->accepted += n;
    }
    return n;
}
