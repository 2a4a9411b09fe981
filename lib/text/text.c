#include <stdlib.h>
#include <string.h>
#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include "text/text.h"
#include "util/err.h"
#include "util/mem.h"

size_t
text_utf8_next(const void *text, size_t len, uint32_t *c)
{
    const int n = u8_mbtoucr(c, text, len);
    ucs4_t part;
    size_t have = 1;

    if (n > 0)
        return (size_t)n;
    *c = UTF8_BAD;
    while (have < len && u8_mbtoucr(&part, text, have + 1) == -2)
        have++; // bytes that can begin a character
    return have;
}

size_t
text_utf8_cut(const void *text, size_t len, size_t most)
{
    const uint8_t *byte = text;
    uint32_t c;

    if (len <= most)
        return len;
    for (size_t back = 1; back <= 3 && back <= most; back++)
        if (byte[most - back] >= 0xc0)
            return text_utf8_next(byte + most - back, len - (most - back), &c) >
                           back
                       ? most - back
                       : most;
    return most;
}

/* Returns the bytes of the white space character that begins here, or 0. */
static size_t
space_at(const char *text, size_t len)
{
    const unsigned char first = (unsigned char)*text;
    uint32_t c;
    size_t n;

    if (first < 0x80)
        return first == ' ' || (first >= '\t' && first <= '\r');
    n = text_utf8_next(text, len, &c);
    return uc_is_property_white_space(c) ? n : 0;
}

int
text_word(const char *text, size_t len, size_t *at, const char **word,
          size_t *n)
{
    size_t i = *at, space = 0;
    uint32_t c;

    while (i < len && (space = space_at(text + i, len - i)))
        i += space;
    *word = text + i;
    while (i < len && !space_at(text + i, len - i))
        i += text_utf8_next(text + i, len - i, &c);
    *n = (size_t)(text + i - *word);
    *at = i;
    return *n > 0;
}

const char *
text_line(const char *text, size_t len, size_t *at, size_t *n)
{
    const char *line = text + *at, *end = memchr(line, '\n', len - *at);

    *n = end ? (size_t)(end - line) : len - *at;
    *at += *n + 1;
    *n -= *n && line[*n - 1] == '\r';
    return line;
}

void
text_append(struct data_bytes *text, const void *from, size_t n)
{
    mem_grow(&text->data, &text->room, text->len + n, 1);
    if (n)
        memcpy(text->data + text->len, from, n);
    text->len += n;
}

int
text_append_utf8(struct data_bytes *text, const char *from, size_t n)
{
    int repaired = 0;

    for (size_t at = 0, more; at < n; at += more) {
        uint32_t c;

        more = text_utf8_next(from + at, n - at, &c);
        if (c == UTF8_BAD &&
            (more != 3 || memcmp(from + at, "\xef\xbf\xbd", 3))) {
            text_append(text, "\xef\xbf\xbd", 3);
            repaired = 1;
        } else {
            text_append(text, from + at, more);
        }
    }
    return repaired;
}

enum { DOTTED_I = 0x130, SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2 };

/* Returns 1 if the next character, forwards or backwards, is cased;
 * case-ignorable characters are skipped, cased or not. */
static int
is_next_to_cased(const uint8_t *text, const uint8_t *end, int forwards)
{
    while (text != end) {
        uint32_t c;

        if (forwards) {
            text += text_utf8_next(text, (size_t)(end - text), &c);
        } else {
            while ((*--text & 0xc0) == 0x80)
                ;
            text_utf8_next(text, 4, &c);
        }
        if (!uc_is_property_case_ignorable(c))
            return uc_is_property_cased(c);
    }
    return 0;
}

/*
 * Writes text of n bytes in lower case, by the full mapping (SpecialCasing.txt)
 * without a locale: it differs from that of single characters for I with a dot,
 * and for a final sigma. u8_tolower of libunistring 1.0 ends words at an
 * apostrophe, unlike Unicode.
 */
static void
write_lower_case(const uint8_t *text, size_t n, struct data_bytes *to)
{
    size_t more;

    to->len = 0;
    for (size_t at = 0; at < n; at += more) {
        uint8_t small[8] = {0};
        uint32_t c;

        more = text_utf8_next(text + at, n - at, &c);
        if (c == SIGMA && is_next_to_cased(text + at, text, 0) &&
            !is_next_to_cased(text + at + more, text + n, 1))
            c = FINAL_SIGMA;
        text_append(
            to, small,
            (size_t)u8_uctomb(small, c == DOTTED_I ? 'i' : uc_tolower(c), 8));
        if (c == DOTTED_I)
            text_append(to, "\xcc\x87", 2);
    }
}

void
text_fold(const char *word, size_t n, struct data_bytes *fold)
{
    uint8_t *composed;
    size_t len, i;

    fold->len = 0;
    for (i = 0; i < n && (unsigned char)word[i] < 0x80; i++)
        ;
    if (i == n) {
        text_append(fold, word, n);
        for (i = 0; i < n; i++)
            if (word[i] >= 'A' && word[i] <= 'Z')
                fold->data[i] += 'a' - 'A';
        return;
    }
    text_append_utf8(fold, word, n);
    composed = u8_normalize(UNINORM_NFC, fold->data, fold->len, NULL, &len);
    REQUIRE(composed); // fails only without memory
    write_lower_case(composed, len, fold);
    free(composed);
}

/* Returns the length of the contraction that begins here, or 0. */
static size_t
contraction_length(const uint8_t *fold, size_t n)
{
    static const char *const short_for[] = {"'s", "'t",  "'re", "'ve",
                                            "'m", "'ll", "'d"};

    for (size_t i = 0; i < sizeof short_for / sizeof *short_for; i++) {
        const size_t len = strlen(short_for[i]);

        if (len <= n && !memcmp(fold, short_for[i], len))
            return len;
    }
    return 0;
}

enum category { LETTER, NUMBER, OTHER };

static enum category
category_of(uint32_t c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z'   ? LETTER
               : c >= '0' && c <= '9' ? NUMBER
                                      : OTHER;
    if (uc_is_general_category(c, UC_LETTER))
        return LETTER;
    return uc_is_general_category(c, UC_NUMBER) ? NUMBER : OTHER;
}

size_t
text_piece(const uint8_t *fold, size_t n)
{
    size_t len = *fold == '\'' ? contraction_length(fold, n) : 0;
    enum category category;
    uint32_t c;

    if (len)
        return len;
    len = text_utf8_next(fold, n, &c);
    category = category_of(c);
    while (category != NUMBER && len < n) {
        const size_t more = text_utf8_next(fold + len, n - len, &c);

        if (category_of(c) != category)
            break;
        len += more;
    }
    return len;
}
