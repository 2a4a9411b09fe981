#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "text/bpe.h"
#include "text/merges.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * Naive training: after each merge all pairs are counted again.  Words have
 * lower-case letters, digits and '-', and a symbol is written as its bytes,
 * with an underscore at the end of a word.
 */
enum { WORDS = 40, LONGEST = 12, MADE = 600 };

struct naive {
    char symbol[WORDS][LONGEST][LONGEST + 2];
    size_t len[WORDS], words;
    char made[MADE][LONGEST + 2]; /* all symbols so far */
    size_t n;
};

struct choice {
    const char *left, *right;
    char both[2 * LONGEST + 2];
    size_t count;
};

static int
is_made(const struct naive *naive, const char *symbol)
{
    if (strlen(symbol) == 1 || (strlen(symbol) == 2 && symbol[1] == '_'))
        return 1;
    for (size_t i = 0; i < naive->n; i++)
        if (!strcmp(naive->made[i], symbol))
            return 1;
    return 0;
}

static size_t
count(const struct naive *naive, const char *left, const char *right)
{
    size_t n = 0;

    for (size_t w = 0; w < naive->words; w++)
        for (size_t k = 0; k + 1 < naive->len[w]; k++)
            n += !strcmp(naive->symbol[w][k], left) &&
                 !strcmp(naive->symbol[w][k + 1], right);
    return n;
}

/* Returns 1 if a is merged before b. */
static int
goes_before(const struct choice *a, const struct choice *b)
{
    const size_t ends = strcspn(a->both, "_"), end = strcspn(b->both, "_");
    const size_t least = ends < end ? ends : end;
    const int order = memcmp(a->both, b->both, least);

    if (a->count != b->count)
        return a->count > b->count;
    if (order || ends != end)
        return order ? order < 0 : ends < end;
    if (strlen(a->left) != strlen(b->left))
        return strlen(a->left) < strlen(b->left);
    return !a->both[ends] && b->both[end];
}

static struct choice
choose(const struct naive *naive)
{
    struct choice best = {.count = 0};

    for (size_t w = 0; w < naive->words; w++)
        for (size_t k = 0; k + 1 < naive->len[w]; k++) {
            struct choice this = {naive->symbol[w][k], naive->symbol[w][k + 1],
                                  "", 0};

            snprintf(this.both, sizeof this.both, "%s%s", this.left,
                     this.right);
            this.count = count(naive, this.left, this.right);
            if (!is_made(naive, this.both) && goes_before(&this, &best))
                best = this;
        }
    return best;
}

static void
apply(struct naive *naive, const char *left, const char *right,
      const char *both)
{
    for (size_t w = 0; w < naive->words; w++)
        for (size_t k = 0; k + 1 < naive->len[w]; k++) {
            char(*symbol)[LONGEST + 2] = naive->symbol[w];

            if (strcmp(symbol[k], left) || strcmp(symbol[k + 1], right))
                continue;
            strcpy(symbol[k], both);
            memmove(symbol + k + 1, symbol + k + 2,
                    (naive->len[w] - k - 2) * sizeof *symbol);
            naive->len[w]--;
        }
}

/* Writes "x_" as in a file: "x</w>". */
static void
write_symbol(char *to, const char *symbol)
{
    const size_t n = strcspn(symbol, "_");

    sprintf(to + strlen(to), "%.*s%s", (int)n, symbol, symbol[n] ? "</w>" : "");
}

static void
train(struct naive *naive, size_t most, size_t min, char *text)
{
    strcpy(text, BPE_HEADING);
    while (naive->n < most) {
        const struct choice best = choose(naive);
        char left[LONGEST + 2], right[LONGEST + 2];

        if (best.count < min || !best.count)
            return;
        strcpy(left, best.left);
        strcpy(right, best.right);
        strcpy(naive->made[naive->n++], best.both);
        write_symbol(text, left);
        strcat(text, " ");
        write_symbol(text, right);
        strcat(text, "\n");
        apply(naive, left, right, best.both);
    }
}

/* Makes random words of few letters, so that there are many ties. */
static void
draw_words(struct naive *naive, struct text_merges *merges, uint64_t seed)
{
    const char *letters = seed % 2 ? "ab" : "abcd";
    struct rng rng;

    *naive = (struct naive){.words = 0};
    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t w = 0; w < 1 + seed % WORDS; w++) {
        char word[LONGEST + 1] = "";

        naive->len[w] = 1 + rng_below(&rng, LONGEST);
        for (size_t k = 0; k < naive->len[w]; k++) {
            word[k] = letters[rng_below(&rng, strlen(letters))];
            sprintf(naive->symbol[w][k], "%c%s", word[k],
                    k + 1 == naive->len[w] ? "_" : "");
        }
        text_merges_count(merges, word, strlen(word));
        naive->words++;
    }
}

static void
agrees_with_naive(void)
{
    static struct naive naive;
    static char want[1 << 16];
    size_t same = 0, merged = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct text_merges *merges = text_merges_new();
        const size_t most = seed % 3 ? 50 : MADE, min = 1 + seed % 5 / 2;
        size_t len;
        char *got;

        draw_words(&naive, merges, seed);
        train(&naive, most, min, want);
        got = text_merges_train(merges, 514 + most, min, &len);
        same += len == strlen(want) && !memcmp(got, want, len);
        merged += naive.n;
        free(got);
        text_merges_free(merges);
    }
    T(same == 200, "200 corpora have the merges of the naive training");
    T(merged > 4000, "the corpora have many merges (%zu)", merged);
}

/* Trains on a text; the merges without the heading, in a static buffer. */
static const char *
learnt(const char *text, size_t size, size_t min)
{
    static char out[4096];
    struct text_merges *merges = text_merges_new();
    size_t len;
    char *got;

    text_merges_count(merges, text, strlen(text));
    got = text_merges_train(merges, size, min, &len);
    snprintf(out, sizeof out, "%.*s", (int)(len - strlen(BPE_HEADING)),
             got + strlen(BPE_HEADING));
    free(got);
    text_merges_free(merges);
    return out;
}

static void
small_cases(void)
{
    T(!strcmp(learnt("", 600, 1), ""), "no text, no merge");
    T(!strcmp(learnt("a b c", 600, 1), ""), "words of one letter, no merge");
    T(!strcmp(learnt("ab AB", 600, 2), "a b</w>\n"), "case does not count");
    T(!strcmp(learnt("ab ab cd", 600, 2), "a b</w>\n"),
      "a pair that occurs once is not merged");
    T(!strcmp(learnt("ab ab cd", 514, 1), ""), "514 tokens are only bytes");
    T(!strcmp(learnt("ab ab cd cd", 515, 1), "a b</w>\n"),
      "of ties the first in byte order is merged, up to the size");
    T(!strcmp(learnt("abx ab", 600, 1), "a b\na b</w>\nab x</w>\n"),
      "with equal bytes the pair that does not end a word");
    T(!strcmp(learnt("\xc3\xa4 \xc3\xa4", 600, 1), "\xc3\x83 \xc2\xa4</w>\n"),
      "bytes beyond ASCII are written as characters");
    T(!strcmp(learnt("don't", 600, 1), "' t</w>\nd o\ndo n</w>\n"),
      "no merge crosses a piece");
    T(!strcmp(learnt("aaaa", 600, 1), "a a\na a</w>\naa aa</w>\n"),
      "overlaps are merged from the left");
}

static void
order_does_not_count(void)
{
    T(!strcmp(
          learnt("the cat sat on the mat", 600, 1),
          strcpy((char[4096]){0}, learnt("mat the on sat cat the", 600, 1))),
      "the order of the words changes nothing");
}

int
main(void)
{
    small_cases();
    agrees_with_naive();
    order_does_not_count();
    return t_done();
}
