#include <string.h>

#include "t.h"
#include "text/captions.h"
#include "util/rng.h"

enum { CONTEXT = 12, EPOCHS = 20000 };

static const char captions[] = "a b c\nd e f g h i j k l m";
static struct text_vocabulary *vocabulary;

/* Computes chi-square of n counts that should be equal. */
static double
chi_square(size_t n, const double *count)
{
    double sum = 0, off = 0;

    for (size_t i = 0; i < n; i++)
        sum += count[i];
    for (size_t i = 0; i < n; i++)
        off += (count[i] - sum / (double)n) * (count[i] - sum / (double)n) *
               (double)n / sum;
    return off;
}

/* 99.9 % points of chi-square with 4, 9, 14 and 24 degrees of freedom. */
#define CHI_4 18.47
#define CHI_9 27.88
#define CHI_14 36.12
#define CHI_24 51.18

static void
draws_are_uniform(void)
{
    double epochs[5] = {0}, ids[5] = {0}, next[15] = {0};
    size_t one = 0;

    for (uint64_t i = 0; i < EPOCHS; i++) {
        const size_t k = text_captions_draw(TEXT_CAPTION_RANDOM, 7, 3, i, 5);

        epochs[k]++;
        ids[text_captions_draw(TEXT_CAPTION_RANDOM, 7, i, 3, 5)]++;
        next[k + 5 * text_captions_draw(TEXT_CAPTION_RANDOM, 7, 3, i + 1, 3)]++;
        one += text_captions_draw(TEXT_CAPTION_RANDOM, 7, i, i, 1);
    }
    T(chi_square(5, epochs) < CHI_4,
      "over epochs all five are equally frequent");
    T(chi_square(5, ids) < CHI_4, "over samples all five are equally frequent");
    T(chi_square(15, next) < CHI_14, "independently of the next epoch");
    T(!one, "a single caption is always chosen");
}

/* Compares the caption with the first random number of a view of the same
 * sample and epoch. */
static void
draws_are_independent_of_views(void)
{
    for (uint64_t view = 0; view < 2; view++) {
        double both[25] = {0};

        for (uint64_t i = 0; i < EPOCHS; i++) {
            struct rng rng;

            rng_init(&rng, 7, RNG_VIEW, i, i, view);
            both[text_captions_draw(TEXT_CAPTION_RANDOM, 7, i, i, 5) +
                 5 * rng_below(&rng, 5)]++;
        }
        T(chi_square(25, both) < CHI_24, "captions are independent of view %d",
          (int)view);
    }
}

static void
draws_are_a_function(void)
{
    size_t same = 0, seeds = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        const size_t k = text_captions_draw(TEXT_CAPTION_RANDOM, 7, i, 2, 64);

        same += k == text_captions_draw(TEXT_CAPTION_RANDOM, 7, i, 2, 64);
        seeds += k == text_captions_draw(TEXT_CAPTION_RANDOM, 8, i, 2, 64);
    }
    T(same == 1000, "the same arguments give the same caption");
    T(seeds < 50, "another seed, other captions");
    T(!text_captions_draw(TEXT_CAPTION_FIRST, 7, 1, 2, 5) &&
          !text_captions_draw(TEXT_CAPTION_ALL, 7, 1, 2, 5),
      "first and all are caption 0");
}

static struct text_captions_settings
how(enum text_caption caption, double drop, size_t context)
{
    return (struct text_captions_settings){caption, drop, context};
}

/* Checks that a row is these letters between its ends, each a word. */
static int
is(size_t k, struct text_captions_settings how, const char *letters)
{
    int32_t row[CONTEXT];
    const size_t n =
        text_captions_row(captions, 0, k, &how, 1, 0, vocabulary, row);
    int same = n == strlen(letters) + 2 && row[0] == 512 && row[n - 1] == 513;

    for (size_t i = 0; same && letters[i]; i++)
        same = row[i + 1] == 256 + letters[i] - '!';
    for (size_t i = n; same && i < how.context; i++)
        same = !row[i];
    return same;
}

static void
rows_have_their_caption(void)
{
    T(is(0, how(TEXT_CAPTION_RANDOM, 0, CONTEXT), "abc"), "caption 0");
    T(is(1, how(TEXT_CAPTION_RANDOM, 0, CONTEXT), "defghijklm"), "caption 1");
    T(is(1, how(TEXT_CAPTION_RANDOM, 0, 5), "def"), "cut to fit");
    T(is(0, how(TEXT_CAPTION_RANDOM, 0, 2), ""), "only its ends");
    T(is(0, how(TEXT_CAPTION_ALL, 0, CONTEXT), "abcdefghij"),
      "all, one after another");
    T(is(0, how(TEXT_CAPTION_FIRST, 1, CONTEXT), ""),
      "no token remains if all are dropped");
}

/* Dropped tokens: each equally often, the others in order. */
static void
tokens_are_dropped(void)
{
    const struct text_captions_settings some =
        how(TEXT_CAPTION_RANDOM, .3, CONTEXT);
    double remaining[10] = {0}, all = 0, pair = 0;
    int rising = 1, same = 1;

    for (uint64_t i = 0; i < EPOCHS; i++) {
        int32_t row[CONTEXT], again[CONTEXT];
        const size_t n =
            text_captions_row(captions, 0, 1, &some, 1, i, vocabulary, row);
        int first[2] = {0};

        text_captions_row(captions, 0, 1, &some, 1, i, vocabulary, again);
        same &= !memcmp(row, again, sizeof row);
        for (size_t j = 1; j + 1 < n; j++) {
            const int token = row[j] - 256 - ('d' - '!');

            rising &= j == 1 || row[j] > row[j - 1];
            remaining[token]++;
            all++;
            if (token < 2)
                first[token] = 1;
        }
        pair += first[0] && first[1];
    }
    T(rising && same, "the others stay in order, the same each time");
    T(fabs(all / EPOCHS / 10 - .7) < .005, "three tenths are dropped: %g",
      1 - all / EPOCHS / 10);
    T(chi_square(10, remaining) < CHI_9, "each equally often");
    T(fabs(pair / EPOCHS - .49) < .015, "independently of its neighbour: %g",
      pair / EPOCHS);
}

/* Dropped tokens make room for later ones. */
static void
tokens_are_dropped_before_the_cut(void)
{
    const struct text_captions_settings some = how(TEXT_CAPTION_RANDOM, .3, 5);
    size_t full = 0;

    for (uint64_t i = 0; i < 1000; i++) {
        int32_t row[CONTEXT];

        full += text_captions_row(captions, 0, 1, &some, 1, i, vocabulary,
                                  row) == 5;
    }
    T(full > 990, "rows of a long caption are still full: %zu", full);
}

int
main(void)
{
    struct err err;

    vocabulary = text_vocabulary_parse("", 0, &err);
    REQUIRE(vocabulary);
    draws_are_uniform();
    draws_are_independent_of_views();
    draws_are_a_function();
    rows_have_their_caption();
    tokens_are_dropped();
    tokens_are_dropped_before_the_cut();
    text_vocabulary_free(vocabulary);
    return t_done();
}
