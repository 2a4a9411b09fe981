#include <stdlib.h>
#include <string.h>

#include "text/merges.h"
#include "util/mem.h"

#include "bpe.h"
#include "text/text.h"

struct text_merges {
    struct lexicon words; /* before folding */
    size_t *count;        /* [words.n] */
    size_t room;
};

struct text_merges *
text_merges_new(void)
{
    return mem_array(1, sizeof(struct text_merges));
}

void
text_merges_free(struct text_merges *merges)
{
    if (!merges)
        return;
    text_lexicon_release(&merges->words);
    mem_free(merges->count, merges);
}

size_t
text_merges_words(const struct text_merges *merges)
{
    return merges->words.n;
}

/* Adds `times` to the count of a string. */
static void
count_in(struct lexicon *lexicon, size_t **count, size_t *room,
         const void *text, size_t len, size_t times)
{
    const size_t before = lexicon->n, i = text_lexicon_add(lexicon, text, len);

    mem_grow(count, room, lexicon->n, sizeof **count);
    (*count)[i] = (i == before ? 0 : (*count)[i]) + times;
}

void
text_merges_count(struct text_merges *merges, const char *text, size_t len)
{
    const char *word;
    size_t at = 0, n;

    while (text_word(text, len, &at, &word, &n))
        count_in(&merges->words, &merges->count, &merges->room, word, n, 1);
}

/* Two adjacent symbols, and the pieces that contain or contained them. */
struct pair {
    int32_t left, right;
    size_t count;
    uint32_t *piece; /* [n] */
    size_t n, room;
};

/* A pair in the queue, with its count when it was queued. */
struct queued_pair {
    size_t count, pair;
};

struct training {
    struct lexicon pieces;
    size_t *count; /* [pieces.n] */
    size_t count_room;
    int32_t *symbol;      /* of all pieces, concatenated */
    size_t *start;        /* [pieces.n] index of the first symbol of each */
    uint32_t *n;          /* [pieces.n] current number of symbols of each */
    struct bpe bpe;       /* so far */
    struct lexicon pairs; /* each as two int32_t, left and right */
    struct pair *pair;    /* [pairs.n] */
    size_t pair_room;
    struct queued_pair *heap; /* the next pair to merge at its top */
    size_t queued, heap_room;
};

/* Compares the joined bytes of two pairs. */
static int
compare_bytes(const struct symbols *symbols, const struct pair *a,
              const struct pair *b)
{
    size_t n[2], m[2];
    const char *x[] = {text_symbols_bytes(symbols, a->left, &n[0]),
                       text_symbols_bytes(symbols, a->right, &n[1])};
    const char *y[] = {text_symbols_bytes(symbols, b->left, &m[0]),
                       text_symbols_bytes(symbols, b->right, &m[1])};
    size_t i = 0, j = 0; /* sides */

    while (i < 2 && j < 2) {
        const size_t len = n[i] < m[j] ? n[i] : m[j];
        const int order = memcmp(x[i], y[j], len);

        if (order)
            return order;
        x[i] += len;
        y[j] += len;
        i += !(n[i] -= len);
        j += !(m[j] -= len);
    }
    return (i < 2) - (j < 2);
}

/* Returns 1 if a is merged before b. */
static int
is_merged_before(const struct training *t, const struct queued_pair *a,
                 const struct queued_pair *b)
{
    const struct pair *x = &t->pair[a->pair], *y = &t->pair[b->pair];
    const struct symbols_entry *entry = t->bpe.symbols.entry;
    int order;

    if (a->count != b->count)
        return a->count > b->count;
    order = compare_bytes(&t->bpe.symbols, x, y);
    if (order)
        return order < 0;
    if (entry[x->left].len != entry[y->left].len)
        return entry[x->left].len < entry[y->left].len;
    return entry[x->right].last < entry[y->right].last;
}

static void
swap_queued(struct queued_pair *heap, size_t i, size_t j)
{
    const struct queued_pair queued_pair = heap[i];

    heap[i] = heap[j];
    heap[j] = queued_pair;
}

static void
queue_pair(struct training *t, size_t pair)
{
    size_t i = t->queued;

    mem_grow(&t->heap, &t->heap_room, ++t->queued, sizeof *t->heap);
    t->heap[i] = (struct queued_pair){t->pair[pair].count, pair};
    for (; i && is_merged_before(t, &t->heap[i], &t->heap[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap_queued(t->heap, i, (i - 1) / 2);
}

static struct queued_pair
pop_pair(struct training *t)
{
    const struct queued_pair first = t->heap[0];
    const size_t n = --t->queued;

    t->heap[0] = t->heap[n];
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n &&
                 is_merged_before(t, &t->heap[child + 1], &t->heap[child]);
        if (!is_merged_before(t, &t->heap[child], &t->heap[i]))
            break;
        swap_queued(t->heap, i, child);
    }
    return first;
}

/* Adds or removes one occurrence of a pair in a piece. */
static void
count_pair(struct training *t, size_t piece, int32_t left, int32_t right,
           int in)
{
    const size_t known = t->pairs.n;
    const size_t number = text_lexicon_add(&t->pairs, (int32_t[]){left, right},
                                           2 * sizeof(int32_t));
    struct pair *pair;

    mem_grow(&t->pair, &t->pair_room, t->pairs.n, sizeof *t->pair);
    pair = &t->pair[number];
    if (number == known)
        *pair = (struct pair){.left = left, .right = right};
    pair->count += in ? t->count[piece] : -t->count[piece];
    if (!in || (pair->n && pair->piece[pair->n - 1] == piece))
        return;
    mem_grow(&pair->piece, &pair->room, pair->n + 1, sizeof *pair->piece);
    pair->piece[pair->n++] = (uint32_t)piece;
}

/* Replaces a pair by its symbol, left to right, and updates the counts of its
 * old and new neighbours. */
static void
replace_pair(struct training *t, size_t piece, int32_t left, int32_t right,
             int32_t joined)
{
    int32_t *symbol = t->symbol + t->start[piece];
    const size_t n = t->n[piece];
    size_t to = 0;

    for (size_t k = 0; k < n; k++) {
        if (k + 1 == n || symbol[k] != left || symbol[k + 1] != right) {
            symbol[to++] = symbol[k];
            continue;
        }
        count_pair(t, piece, left, right, 0);
        if (to) {
            count_pair(t, piece, symbol[to - 1], left, 0);
            count_pair(t, piece, symbol[to - 1], joined, 1);
        }
        symbol[to++] = joined;
        k++;
        if (k + 1 < n) {
            count_pair(t, piece, right, symbol[k + 1], 0);
            count_pair(t, piece, joined, symbol[k + 1], 1);
        }
    }
    t->n[piece] = (uint32_t)to;
}

/* Merges a pair everywhere, and queues the new pairs. */
static void
merge_pair(struct training *t, size_t number)
{
    const struct pair pair = t->pair[number]; // the table may move
    const int32_t joined = (int32_t)t->bpe.symbols.written.n - 1;
    const size_t known = t->pairs.n;

    t->pair[number].piece = NULL;
    t->pair[number].n = t->pair[number].room = 0;
    for (size_t i = 0; i < pair.n; i++)
        replace_pair(t, pair.piece[i], pair.left, pair.right, joined);
    free(pair.piece);
    REQUIRE(!t->pair[number].count);
    for (size_t i = known; i < t->pairs.n; i++)
        queue_pair(t, i);
}

/* Adds symbols of the most frequent pairs, until the vocabulary has `size`. */
static void
add_symbols(struct training *t, size_t size, size_t min)
{
    const size_t most = size - SYMBOLS_FIRST - 2;

    while (t->bpe.merges.n < most && t->queued) {
        const struct queued_pair queued_pair = pop_pair(t);
        const struct pair *pair = &t->pair[queued_pair.pair];

        if (queued_pair.count < min)
            return;
        if (queued_pair.count != pair->count)
            queue_pair(t, queued_pair.pair);
        else if (!text_bpe_add(&t->bpe, pair->left, pair->right))
            merge_pair(t, queued_pair.pair);
    }
}

char *
text_merges_train(const struct text_merges *merges, size_t size, size_t min,
                  size_t *len)
{
    struct training t = {.queued = 0};
    struct data_bytes text = {0};
    struct data_bytes fold = {0};

    REQUIRE(size >= SYMBOLS_FIRST + 2 && min >= 1 &&
            size <= SYMBOLS_FIRST + 2 + BPE_MERGES_MAX);
    text_bpe_init(&t.bpe);
    // folds the words and cuts them into pieces
    for (size_t i = 0; i < merges->words.n; i++) {
        size_t n;
        const char *word = text_lexicon_text(&merges->words, i, &n);

        text_fold(word, n, &fold);
        for (size_t at = 0; at < fold.len;) {
            n = text_piece(fold.data + at, fold.len - at);
            count_in(&t.pieces, &t.count, &t.count_room, fold.data + at, n,
                     merges->count[i]);
            at += n;
        }
    }
    data_bytes_release(&fold);
    t.symbol = mem_array(t.pieces.text_len, sizeof *t.symbol);
    t.start = mem_array(t.pieces.n, sizeof *t.start);
    t.n = mem_array(t.pieces.n, sizeof *t.n);
    for (size_t i = 0, at = 0; i < t.pieces.n; i++) {
        size_t n;
        const char *piece = text_lexicon_text(&t.pieces, i, &n);

        t.start[i] = at;
        t.n[i] = (uint32_t)n;
        for (size_t k = 0; k < n; k++)
            t.symbol[at++] = t.bpe.symbols.of_byte[(uint8_t)piece[k]];
        t.symbol[at - 1] += SYMBOLS_BYTES;
    }
    for (size_t i = 0; i < t.pieces.n; i++)
        for (size_t k = t.start[i]; k + 1 < t.start[i] + t.n[i]; k++)
            count_pair(&t, i, t.symbol[k], t.symbol[k + 1], 1);
    for (size_t i = 0; i < t.pairs.n; i++)
        queue_pair(&t, i);
    add_symbols(&t, size, min);
    text_bpe_text(&t.bpe, &text);
    for (size_t i = 0; i < t.pairs.n; i++)
        free(t.pair[i].piece);
    text_lexicon_release(&t.pieces);
    text_bpe_release(&t.bpe);
    text_lexicon_release(&t.pairs);
    mem_free(t.count, t.symbol, t.start, t.n, t.pair, t.heap);
    *len = text.len;
    return (char *)text.data;
}
