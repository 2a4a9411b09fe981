#include <stdio.h>
#include <string.h>

#include "util/err.h"
#include "util/guess.h"

enum { LONGEST = 64 };

static size_t
smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Counts the changes that turn a into b (the optimal string alignment
 * distance). */
static size_t
count_changes(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t d[LONGEST][LONGEST]; // changes between the first letters of both

    REQUIRE(n < LONGEST && m < LONGEST);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = smaller_size(smaller_size(d[i - 1][j], d[i][j - 1]) + 1,
                                   d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller_size(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

void
guess_try(struct guess *guess, const char *word)
{
    const size_t n = strlen(guess->word);
    size_t changes;

    if (n >= LONGEST || strlen(word) >= sizeof guess->best)
        return;
    changes = count_changes(guess->word, word);
    if (changes > 2 || 2 * changes >= strlen(word) ||
        (*guess->best && changes >= guess->changes))
        return;
    snprintf(guess->best, sizeof guess->best, "%s", word);
    guess->changes = changes;
}

/* Names of options in other programs, and in foil. */
static const char *const others[][2] = {
    {"learning-rate", "lr"},
    {"temperature", "tau"},
    {"batch-size", "batch"},
    {"workers", "augmenters"},
    {"num-workers", "augmenters"},
    {"num-epochs", "epochs"},
    {"max-epochs", "epochs"},
    {"max-steps", "steps"},
    {"num-threads", "threads"},
    {"model", "arch"},
    {"backbone", "arch"},
    {"loss", "objective"},
    {"optimizer", "optim"},
    {"optimiser", "optim"},
    {"wd", "weight-decay"},
    {"scheduler", "schedule"},
    {"lr-scheduler", "schedule"},
    {"warmup-epochs", "warmup"},
    {"accumulate-grad-batches", "accumulate"},
    {"gradient-accumulation-steps", "accumulate"},
    {"amp", "precision"},
    {"fp16", "precision"},
    {"pretrained", "init"},
    {"image-size", "size"},
    {"img-size", "size"},
    {"random-seed", "seed"},
    {"output-dir", "run"},
    {"device", ""},
    {"gpu", ""},
    {"gpus", ""},
    {"cuda", ""},
};

const char guess_device[] =
    "foil computes on processors (CPUs), leave it out; foil-python(7) has "
    "encoders on a GPU";

const char *
guess_other(const char *word)
{
    char name[LONGEST];

    snprintf(name, sizeof name, "%s", word);
    for (char *at = name; (at = strchr(at, '_'));)
        *at = '-';
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(name, others[i][0]))
            return others[i][1];
    return NULL;
}

const char *
guess_words(struct guess *guess)
{
    if (*guess->best)
        snprintf(guess->words, sizeof guess->words, ": did you mean '%s%s'?",
                 guess->lead ? guess->lead : "", guess->best);
    return guess->words;
}
