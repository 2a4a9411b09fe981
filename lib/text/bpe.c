#define _GNU_SOURCE // memmem()
#include <stdlib.h>
#include <string.h>

#include "text/text.h"
#include "util/err.h"
#include "util/mem.h"

#include "bpe.h"

void
text_tokens_add(struct tokens *tokens, int32_t id)
{
    mem_grow(&tokens->id, &tokens->room, tokens->n + 1, sizeof *tokens->id);
    tokens->id[tokens->n++] = id;
}

void
text_tokens_release(struct tokens *tokens)
{
    free(tokens->id);
    *tokens = (struct tokens){0};
}

static const char last_mark[] = "</w>";

static void
add_entry(struct symbols *symbols, size_t n, size_t at, size_t len, int last)
{
    mem_grow(&symbols->entry, &symbols->room, n + 1, sizeof *symbols->entry);
    symbols->entry[n] =
        (struct symbols_entry){at, (uint32_t)len, (uint32_t)last};
}

/* Adds the symbol of a byte, written as character c < 2^11. */
static void
add_byte(struct symbols *symbols, uint8_t byte, unsigned c, int last)
{
    const size_t n = symbols->written.n;
    char written[8];
    size_t len = 0;

    if (c < 0x80) {
        written[len++] = (char)c;
    } else {
        written[len++] = (char)(0xc0 | c >> 6);
        written[len++] = (char)(0x80 | (c & 0x3f));
    }
    if (last) {
        memcpy(written + len, last_mark, sizeof last_mark - 1);
        len += sizeof last_mark - 1;
    }
    text_lexicon_add(&symbols->written, written, len);
    mem_grow(&symbols->text, &symbols->text_room, symbols->text_len + 1, 1);
    symbols->text[symbols->text_len] = (char)byte;
    add_entry(symbols, n, symbols->text_len++, 1, last);
    if (!last)
        symbols->of_byte[byte] = (int32_t)n;
}

static int
is_written_as_itself(unsigned byte)
{
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
}

const char *
text_symbols_bytes(const struct symbols *symbols, int32_t symbol, size_t *len)
{
    const struct symbols_entry *entry = &symbols->entry[symbol];

    *len = entry->len;
    return symbols->text + entry->at;
}

/* Appends the symbol of two others: 0, or -1 if a symbol with its spelling
 * exists. */
static int
join_symbols(struct symbols *symbols, int32_t left, int32_t right)
{
    const size_t before = symbols->written.n, end = symbols->text_len;
    const struct symbols_entry l = symbols->entry[left];
    const struct symbols_entry r = symbols->entry[right];
    struct data_bytes both = {0};
    size_t n;

    for (int side = 0; side < 2; side++) {
        const char *written = text_lexicon_text(
            &symbols->written, (size_t)(side ? right : left), &n);

        text_append(&both, written, n);
    }
    text_lexicon_add(&symbols->written, both.data, both.len);
    data_bytes_release(&both);
    if (symbols->written.n == before)
        return -1;
    mem_grow(&symbols->text, &symbols->text_room, end + l.len + r.len, 1);
    memcpy(symbols->text + end, symbols->text + l.at, l.len);
    memcpy(symbols->text + end + l.len, symbols->text + r.at, r.len);
    symbols->text_len += l.len + r.len;
    add_entry(symbols, before, end, l.len + r.len, (int)r.last);
    return 0;
}

void
text_bpe_init(struct bpe *bpe)
{
    for (int last = 0; last < 2; last++) {
        unsigned other = 0x100;

        for (unsigned byte = 0; byte < SYMBOLS_BYTES; byte++)
            if (is_written_as_itself(byte))
                add_byte(&bpe->symbols, (uint8_t)byte, byte, last);
        for (unsigned byte = 0; byte < SYMBOLS_BYTES; byte++)
            if (!is_written_as_itself(byte))
                add_byte(&bpe->symbols, (uint8_t)byte, other++, last);
    }
}

int
text_bpe_add(struct bpe *bpe, int32_t left, int32_t right)
{
    if (join_symbols(&bpe->symbols, left, right))
        return -1;
    text_lexicon_add(&bpe->merges, (int32_t[]){left, right},
                     2 * sizeof(int32_t));
    return 0;
}

/* Reads LEFT RIGHT; returns the fault, or NULL. */
static const char *
read_merge(struct bpe *bpe, const char *line, size_t len)
{
    const char *space = memchr(line, ' ', len), *right;
    int64_t a, b;
    size_t n;

    if (!space || memchr(space + 1, ' ', (size_t)(line + len - space - 1)))
        return "is not two symbols with one space between them";
    right = space + 1;
    n = (size_t)(line + len - right);
    a = text_lexicon_find(&bpe->symbols.written, line, (size_t)(space - line));
    b = text_lexicon_find(&bpe->symbols.written, right, n);
    if (a < 0 || b < 0)
        return "has a symbol that no line above makes";
    if (text_bpe_add(bpe, (int32_t)a, (int32_t)b))
        return "makes a symbol that is there already";
    return NULL;
}

int
text_bpe_parse(struct bpe *bpe, const char *text, size_t len, struct err *err)
{
    size_t number = 0;

    text_bpe_init(bpe);
    for (size_t at = 0; at < len && bpe->merges.n < BPE_MERGES_MAX;) {
        size_t n;
        const char *line = text_line(text, len, &at, &n), *why;

        if (!number++ && memmem(line, n, "#version", 8))
            continue;
        why = read_merge(bpe, line, n);
        if (why)
            return err_set(err, "line %zu %s", number, why);
    }
    return 0;
}

/* Returns the rank of the merge of two symbols, or LEXICON_NONE. */
static int64_t
rank_of_merge(const struct bpe *bpe, int32_t left, int32_t right)
{
    return text_lexicon_find(&bpe->merges, (int32_t[]){left, right},
                             2 * sizeof(int32_t));
}

/* Swaps two entries of the heap. */
static void
swap_in_heap(uint64_t *heap, size_t i, size_t j)
{
    const uint64_t x = heap[i];

    heap[i] = heap[j];
    heap[j] = x;
}

/* Queues the merge of the symbol at `at` and the next one, if there is one. */
static void
propose_merge(struct bpe *bpe, uint32_t at)
{
    struct bpe_scratch *s = &bpe->scratch;
    size_t i = s->queued;
    int64_t rank;

    if (s->next[at] == s->n)
        return;
    rank = rank_of_merge(bpe, s->id[at], s->id[s->next[at]]);
    if (rank < 0)
        return;
    mem_grow(&s->heap, &s->heap_room, ++s->queued, sizeof *s->heap);
    s->heap[i] = (uint64_t)rank << 32 | at;
    for (; i && s->heap[(i - 1) / 2] > s->heap[i]; i = (i - 1) / 2)
        swap_in_heap(s->heap, i, (i - 1) / 2);
}

/* Removes and returns the first merge of the queue. */
static uint64_t
pop_merge(struct bpe_scratch *s)
{
    const uint64_t first = s->heap[0];
    uint64_t *heap = s->heap;
    const size_t n = --s->queued;

    heap[0] = heap[n];
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (heap[i] <= heap[child])
            break;
        swap_in_heap(heap, i, child);
    }
    return first;
}

/* Applies a merge, if its symbols still exist. */
static void
apply_merge(struct bpe *bpe, uint64_t first)
{
    struct bpe_scratch *s = &bpe->scratch;
    const uint32_t at = (uint32_t)first, right = s->next[at];
    const int64_t rank = (int64_t)(first >> 32);

    if (s->id[at] < 0 || right == s->n ||
        rank_of_merge(bpe, s->id[at], s->id[right]) != rank)
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
text_bpe_encode(struct bpe *bpe, const uint8_t *piece, size_t n,
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
    while (s->queued)
        apply_merge(bpe, pop_merge(s));
    for (size_t i = 0; i < n; i = s->next[i])
        text_tokens_add(tokens, s->id[i]);
}

void
text_bpe_text(const struct bpe *bpe, struct data_bytes *text)
{
    text_append(text, BPE_HEADING, sizeof BPE_HEADING - 1);
    for (size_t i = 0; i < bpe->merges.n; i++) {
        int32_t both[2];
        size_t n;

        memcpy(both, text_lexicon_text(&bpe->merges, i, &n), sizeof both);
        for (int side = 0; side < 2; side++) {
            const char *written = text_lexicon_text(&bpe->symbols.written,
                                                    (size_t)both[side], &n);

            text_append(text, written, n);
            text_append(text, side ? "\n" : " ", 1);
        }
    }
}

int
text_bpe_decode(const struct bpe *bpe, int32_t id, int apart,
                struct data_bytes *text)
{
    size_t n;
    const char *bytes = text_symbols_bytes(&bpe->symbols, id, &n);

    if (apart)
        text_append(text, " ", 1);
    text_append(text, bytes, n);
    return (int)bpe->symbols.entry[id].last;
}

void
text_bpe_release(struct bpe *bpe)
{
    text_lexicon_release(&bpe->symbols.written);
    mem_free(bpe->symbols.text, bpe->symbols.entry);
    text_lexicon_release(&bpe->merges);
    mem_free(bpe->scratch.id, bpe->scratch.next, bpe->scratch.last,
             bpe->scratch.heap);
    *bpe = (struct bpe){0};
}
