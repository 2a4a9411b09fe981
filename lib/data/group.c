#include <stdlib.h>
#include <string.h>

#include "data/group.h"
#include "util/err.h"
#include "util/forest.h"
#include "util/mem.h"

#include "text/lexicon.h"
#include "text/text.h"

#include "tree.h"

/* Numbers the trees of a forest as groups, and frees the forest. */
static size_t
number_trees(size_t n, size_t *up, int64_t *group)
{
    size_t groups = 0;

    for (size_t i = 0; i < n; i++) {
        size_t root = forest_root(up, i);

        group[i] = root == i ? (int64_t)groups++ : group[root];
    }
    free(up);
    return groups;
}

/* Samples that are grouped by texts that they share. */
struct sharing {
    size_t *up; /* forest of the samples */
    struct lexicon texts;
    size_t *first; /* [texts.n] the first sample with each */
    size_t room;
};

static void
add_text_of(struct sharing *s, size_t sample, const void *text, size_t len)
{
    const size_t known = s->texts.n;
    const size_t i = text_lexicon_add(&s->texts, text, len);

    mem_grow(&s->first, &s->room, s->texts.n, sizeof *s->first);
    if (i == known)
        s->first[i] = sample;
    forest_unite(s->up, s->first[i], sample);
}

static size_t
end_sharing(size_t n, struct sharing *s, int64_t *group)
{
    text_lexicon_release(&s->texts);
    free(s->first);
    return number_trees(n, s->up, group);
}

/* Writes the normal form of a line. */
static void
fold_line(const char *line, size_t len, struct data_bytes *fold,
          struct data_bytes *all)
{
    const char *word;
    size_t at = 0, n;

    all->len = 0;
    while (text_word(line, len, &at, &word, &n)) {
        text_fold(word, n, fold);
        if (all->len)
            text_append(all, " ", 1);
        text_append(all, fold->data, fold->len);
    }
}

size_t
data_group_caption(const struct data_set *set, int64_t *group)
{
    const size_t n = data_size(set);
    struct sharing sharing = {.up = forest_new(n)};
    struct data_bytes fold = {0}, all = {0};

    for (size_t i = 0; i < n; i++)
        for (const char *at = data_caption(set, i); *at;) {
            const size_t len = strcspn(at, "\n");

            fold_line(at, len, &fold, &all);
            if (all.len)
                add_text_of(&sharing, i, all.data, all.len);
            at += len + (at[len] == '\n');
        }
    data_bytes_release(&fold);
    data_bytes_release(&all);
    return end_sharing(n, &sharing, group);
}

size_t
data_group_file(const struct data_set *set, int64_t *group)
{
    const size_t n = data_size(set);
    struct sharing sharing = {.up = forest_new(n)};

    for (size_t i = 0; i < n; i++) {
        const char *name = data_name(set, i);

        name += data_kind_folders(name);
        add_text_of(&sharing, i, name, strlen(name));
    }
    return end_sharing(n, &sharing, group);
}

size_t
data_group_label(const struct data_set *set, int64_t *group)
{
    const size_t n = data_size(set);
    struct sharing sharing = {.up = forest_new(n)};

    for (size_t i = 0; i < n; i++) {
        const int label = data_label(set, i);

        if (label >= 0)
            add_text_of(&sharing, i, &label, sizeof label);
    }
    return end_sharing(n, &sharing, group);
}

static int
are_alike(const struct image_fingerprint *a, const struct image_fingerprint *b,
          size_t bits, double levels)
{
    int apart = 0;

    if ((size_t)__builtin_popcountll(a->hash ^ b->hash) > bits)
        return 0;
    for (size_t i = 0; i < sizeof a->pixel; i++)
        apart += abs(a->pixel[i] - b->pixel[i]);
    return apart <= levels * (double)sizeof a->pixel;
}

/* A part of a hash, and its sample. */
struct hash_part {
    uint64_t bits;
    size_t sample;
};

static int
compare_parts(const void *a, const void *b)
{
    const struct hash_part *x = a, *y = b;

    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

size_t
data_group_fingerprint(size_t n, const struct image_fingerprint *fingerprint,
                       size_t bits, double levels, int64_t *group)
{
    struct hash_part *part = mem_array(n, sizeof *part);
    size_t *up = forest_new(n);

    REQUIRE(bits < 16);
    // hashes that differ in so many bits agree in one of bits + 1 parts; the
    // bits of a part are spread, as an empty corner has equal bits
    for (size_t p = 0; p <= bits; p++) {
        uint64_t mask = 0;

        for (size_t bit = p; bit < 64; bit += bits + 1)
            mask |= (uint64_t)1 << bit;
        for (size_t i = 0; i < n; i++)
            part[i] = (struct hash_part){fingerprint[i].hash & mask, i};
        qsort(part, n, sizeof *part, compare_parts);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n && part[j].bits == part[i].bits; j++) {
                size_t a = part[i].sample, b = part[j].sample;

                if (are_alike(&fingerprint[a], &fingerprint[b], bits, levels))
                    forest_unite(up, a, b);
            }
    }
    free(part);
    return number_trees(n, up, group);
}
