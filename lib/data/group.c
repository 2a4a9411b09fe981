#include <stdlib.h>
#include <string.h>

#include "data/group.h"
#include "util/err.h"
#include "util/forest.h"
#include "util/mem.h"

#include "text/text.h"

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

/* A text that samples may share. */
struct text {
    const char *start;
    size_t len, sample;
};

struct texts {
    struct text *text;
    size_t n, room;
};

static void
texts_add(struct texts *texts, const char *start, size_t len, size_t sample)
{
    mem_grow(&texts->text, &texts->room, texts->n + 1, sizeof *texts->text);
    texts->text[texts->n++] = (struct text){start, len, sample};
}

static int
compare_texts(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    int order = memcmp(x->start, y->start, x->len < y->len ? x->len : y->len);

    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Groups n samples by the texts that they share; frees the texts. */
static size_t
group_texts(size_t n, struct texts *texts, int64_t *group)
{
    size_t *up = forest_new(n);

    if (texts->n)
        qsort(texts->text, texts->n, sizeof *texts->text, compare_texts);
    for (size_t i = 1; i < texts->n; i++)
        if (!compare_texts(&texts->text[i - 1], &texts->text[i]))
            forest_unite(up, texts->text[i - 1].sample, texts->text[i].sample);
    free(texts->text);
    return number_trees(n, up, group);
}

/* Appends the normal form of a line to `all`; returns its length. */
static size_t
fold_line(const char *line, size_t len, struct data_bytes *fold,
          struct data_bytes *all)
{
    const size_t before = all->len;
    const char *word;
    size_t at = 0, n;

    while (text_word(line, len, &at, &word, &n)) {
        text_fold(word, n, fold);
        if (all->len > before)
            text_append(all, " ", 1);
        text_append(all, fold->data, fold->len);
    }
    return all->len - before;
}

size_t
data_group_caption(const struct data_set *set, int64_t *group)
{
    struct data_bytes fold = {0}, all = {0};
    struct texts texts = {0};
    size_t from = 0;

    for (size_t i = 0; i < data_size(set); i++)
        for (const char *at = data_caption(set, i); *at;) {
            const size_t len = strcspn(at, "\n");
            const size_t n = fold_line(at, len, &fold, &all);

            if (n)
                texts_add(&texts, NULL, n, i);
            at += len + (at[len] == '\n');
        }
    for (size_t i = 0; i < texts.n; i++) { // the texts do not move any more
        texts.text[i].start = (const char *)all.data + from;
        from += texts.text[i].len;
    }
    from = group_texts(data_size(set), &texts, group);
    data_bytes_release(&fold);
    data_bytes_release(&all);
    return from;
}

size_t
data_group_file(const struct data_set *set, int64_t *group)
{
    struct texts texts = {0};

    for (size_t i = 0; i < data_size(set); i++) {
        const char *name = data_name(set, i), *slash = strrchr(name, '/');

        name = slash ? slash + 1 : name;
        texts_add(&texts, name, strlen(name), i);
    }
    return group_texts(data_size(set), &texts, group);
}

size_t
data_group_label(const struct data_set *set, int64_t *group)
{
    const size_t n = data_size(set), classes = data_classes(set);
    size_t *first = mem_array(classes, sizeof *first), *up = forest_new(n);

    for (size_t c = 0; c < classes; c++)
        first[c] = n;
    for (size_t i = 0; i < n; i++) {
        const int label = data_label(set, i);

        if (label < 0)
            continue;
        if (first[label] == n)
            first[label] = i;
        forest_unite(up, first[label], i);
    }
    free(first);
    return number_trees(n, up, group);
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
