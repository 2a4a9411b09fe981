#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "symbols.h"

static const char last_mark[] = "</w>";

static void
add_entry(struct symbols *symbols, size_t n, size_t at, size_t len, int last)
{
    mem_grow(&symbols->entry, &symbols->room, n + 1, sizeof *symbols->entry);
    symbols->entry[n] =
        (struct symbols_entry){at, (uint32_t)len, (uint32_t)last};
}

/* Adds the symbol of a byte that is written as character c < 2^11. */
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
    data_lexicon_add(&symbols->written, written, len);
    mem_grow(&symbols->text, &symbols->text_room, symbols->text_len + 1, 1);
    symbols->text[symbols->text_len] = (char)byte;
    add_entry(symbols, n, symbols->text_len++, 1, last);
    if (!last)
        symbols->of_byte[byte] = (int32_t)n;
}

static int
stands_for_itself(unsigned byte)
{
    return (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
}

void
data_symbols_init(struct symbols *symbols)
{
    for (int last = 0; last < 2; last++) {
        unsigned other = 0x100;

        for (unsigned byte = 0; byte < SYMBOLS_BYTES; byte++)
            if (stands_for_itself(byte))
                add_byte(symbols, (uint8_t)byte, byte, last);
        for (unsigned byte = 0; byte < SYMBOLS_BYTES; byte++)
            if (!stands_for_itself(byte))
                add_byte(symbols, (uint8_t)byte, other++, last);
    }
}

/* Puts two strings into one, to be given to free(). */
static char *
join_strings(const char *left, size_t n, const char *right, size_t m)
{
    char *both = mem_array(n + m + 1, 1);

    memcpy(both, left, n);
    memcpy(both + n, right, m);
    return both;
}

int
data_symbols_join(struct symbols *symbols, int32_t left, int32_t right)
{
    const uint32_t last = symbols->entry[right].last;
    const size_t before = symbols->written.n, end = symbols->text_len;
    size_t n, m;
    const char *a = data_lexicon_text(&symbols->written, (size_t)left, &n);
    const char *b = data_lexicon_text(&symbols->written, (size_t)right, &m);
    char *both = join_strings(a, n, b, m);

    data_lexicon_add(&symbols->written, both, n + m);
    free(both);
    if (symbols->written.n == before)
        return -1;
    a = data_symbols_bytes(symbols, left, &n);
    b = data_symbols_bytes(symbols, right, &m);
    both = join_strings(a, n, b, m);
    mem_grow(&symbols->text, &symbols->text_room, end + n + m, 1);
    memcpy(symbols->text + end, both, n + m);
    symbols->text_len += n + m;
    add_entry(symbols, before, end, n + m, (int)last);
    free(both);
    return 0;
}

const char *
data_symbols_bytes(const struct symbols *symbols, int32_t symbol, size_t *len)
{
    const struct symbols_entry *entry = &symbols->entry[symbol];

    *len = entry->len;
    return symbols->text + entry->at;
}

void
data_symbols_release(struct symbols *symbols)
{
    data_lexicon_release(&symbols->written);
    free(symbols->text);
    free(symbols->entry);
    *symbols = (struct symbols){0};
}
