#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "bpe.h"
#include "text/text.h"

static const char comment[] = "#version";

void
data_bpe_init(struct bpe *bpe)
{
    data_symbols_init(&bpe->symbols);
}

int
data_bpe_add(struct bpe *bpe, int32_t left, int32_t right)
{
    if (data_symbols_join(&bpe->symbols, left, right))
        return -1;
    data_pairs_put(&bpe->rank, left, right, bpe->merges);
    mem_grow(&bpe->merge, &bpe->room, bpe->merges + 1, sizeof *bpe->merge);
    bpe->merge[bpe->merges++] = (struct bpe_merge){left, right};
    return 0;
}

/* Reads LEFT RIGHT; NULL, or what is wrong. */
static const char *
read_merge(struct bpe *bpe, const char *line, size_t len)
{
    const char *space = memchr(line, ' ', len), *right;
    int64_t a, b;
    size_t n;

    if (!space || memchr(space + 1, ' ', (size_t)(line + len - space - 1)))
        return "wants two symbols with one space between them";
    right = space + 1;
    n = (size_t)(line + len - right);
    a = data_lexicon_find(&bpe->symbols.written, line, (size_t)(space - line));
    b = data_lexicon_find(&bpe->symbols.written, right, n);
    if (a < 0 || b < 0)
        return "has a symbol that no line above makes";
    if (data_bpe_add(bpe, (int32_t)a, (int32_t)b))
        return "makes a symbol that is there already";
    return NULL;
}

static int
is_comment(const char *line, size_t len)
{
    for (size_t i = 0; i + sizeof comment - 1 <= len; i++)
        if (!memcmp(line + i, comment, sizeof comment - 1))
            return 1;
    return 0;
}

int
data_bpe_parse(struct bpe *bpe, const char *text, size_t len, struct err *err)
{
    size_t number = 0;

    data_bpe_init(bpe);
    for (size_t at = 0; at < len && bpe->merges < BPE_MERGES_MAX;) {
        const char *line = text + at, *end = memchr(line, '\n', len - at);
        const size_t n = end ? (size_t)(end - line) : len - at;
        const size_t m = n - (n && line[n - 1] == '\r');
        const char *why;

        at += n + 1;
        if (!number++ && is_comment(line, m))
            continue;
        why = read_merge(bpe, line, m);
        if (why)
            return err_set(err, "line %zu %s", number, why);
    }
    return 0;
}

/* Exchanges two places of the heap. */
static void
swap_in_heap(uint64_t *heap, size_t i, size_t j)
{
    const uint64_t x = heap[i];

    heap[i] = heap[j];
    heap[j] = x;
}

/* If the symbols at a place and behind it have a merge, it waits its turn. */
static void
propose_merge(struct bpe *bpe, uint32_t at)
{
    struct bpe_scratch *s = &bpe->scratch;
    size_t i = s->waiting;
    int64_t rank;

    if (s->next[at] == s->n)
        return;
    rank = data_pairs_get(&bpe->rank, s->id[at], s->id[s->next[at]]);
    if (rank < 0)
        return;
    mem_grow(&s->heap, &s->heap_room, ++s->waiting, sizeof *s->heap);
    s->heap[i] = (uint64_t)rank << 32 | at;
    for (; i && s->heap[(i - 1) / 2] > s->heap[i]; i = (i - 1) / 2)
        swap_in_heap(s->heap, i, (i - 1) / 2);
}

/* The first merge in turn. */
static uint64_t
take_first_merge(struct bpe_scratch *s)
{
    const uint64_t first = s->heap[0];
    uint64_t *heap = s->heap;
    const size_t n = --s->waiting;

    heap[0] = heap[n];
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (heap[i] <= heap[child])
            break;
        swap_in_heap(heap, i, child);
    }
    return first;
}

/* Applies a merge whose turn it is, if its symbols are still there. */
static void
apply_merge(struct bpe *bpe, uint64_t first)
{
    struct bpe_scratch *s = &bpe->scratch;
    const uint32_t at = (uint32_t)first, right = s->next[at];
    const int64_t rank = (int64_t)(first >> 32);

    if (s->id[at] < 0 || right == s->n ||
        data_pairs_get(&bpe->rank, s->id[at], s->id[right]) != rank)
        return;
    s->id[at] = SYMBOLS_FIRST + (int32_t)rank;
    s->id[right] = -1;
    s->next[at] = s->next[right];
    if (s->next[at] < s->n)
        s->last[s->next[at]] = at;
    propose_merge(bpe, at);
    if (at)
        propose_merge(bpe, s->last[at]);
}

void
data_bpe_encode(struct bpe *bpe, const uint8_t *piece, size_t n,
                struct tokens *tokens)
{
    struct bpe_scratch *s = &bpe->scratch;

    REQUIRE(n >= 1 && n >> 31 == 0);
    s->n = n;
    mem_grow(&s->id, &s->id_room, n, sizeof *s->id);
    mem_grow(&s->next, &s->next_room, n, sizeof *s->next);
    mem_grow(&s->last, &s->last_room, n, sizeof *s->last);
    for (size_t i = 0; i < n; i++) {
        s->id[i] = bpe->symbols.of_byte[piece[i]];
        s->next[i] = (uint32_t)i + 1;
        s->last[i] = (uint32_t)i - 1;
    }
    s->id[n - 1] += SYMBOLS_BYTES;
    for (size_t i = 0; i < n; i++)
        propose_merge(bpe, (uint32_t)i);
    while (s->waiting)
        apply_merge(bpe, take_first_merge(s));
    for (size_t i = 0; i < n; i = s->next[i])
        data_tokens_add(tokens, s->id[i]);
}

void
data_bpe_text(const struct bpe *bpe, struct data_bytes *text)
{
    data_text_append(text, BPE_HEADING, sizeof BPE_HEADING - 1);
    for (size_t i = 0; i < bpe->merges; i++) {
        const int32_t both[] = {bpe->merge[i].left, bpe->merge[i].right};

        for (int side = 0; side < 2; side++) {
            size_t n;
            const char *written = data_lexicon_text(&bpe->symbols.written,
                                                    (size_t)both[side], &n);

            data_text_append(text, written, n);
            data_text_append(text, side ? "\n" : " ", 1);
        }
    }
}

int
data_bpe_decode(const struct bpe *bpe, int32_t id, int apart,
                struct data_bytes *text)
{
    size_t n;
    const char *bytes = data_symbols_bytes(&bpe->symbols, id, &n);

    if (apart)
        data_text_append(text, " ", 1);
    data_text_append(text, bytes, n);
    return (int)bpe->symbols.entry[id].last;
}

void
data_bpe_release(struct bpe *bpe)
{
    data_symbols_release(&bpe->symbols);
    data_pairs_release(&bpe->rank);
    free(bpe->merge);
    free(bpe->scratch.id);
    free(bpe->scratch.next);
    free(bpe->scratch.last);
    free(bpe->scratch.heap);
    *bpe = (struct bpe){0};
}
