#include <stdlib.h>
#include <string.h>
#include <unictype.h>
#include <uninorm.h>

#include "util/mem.h"

#include "text/text.h"
#include "wordpiece.h"

enum {
    DROPPED = UC_CATEGORY_MASK_Cc | UC_CATEGORY_MASK_Cf | UC_CATEGORY_MASK_Co |
              UC_CATEGORY_MASK_Cn | UC_CATEGORY_MASK_Mn
};

/* Finds a required token. */
static int
find_token(const struct wordpiece *wordpiece, const char *token, int32_t *id,
           struct err *err)
{
    *id = (int32_t)text_lexicon_find(&wordpiece->token, token, strlen(token));
    return *id >= 0 ? 0 : err_set(err, "no line is %s", token);
}

int
text_wordpiece_parse(struct wordpiece *wordpiece, const char *text, size_t len,
                     struct err *err)
{
    struct lexicon *token = &wordpiece->token;
    size_t number = 0;

    for (size_t at = 0; at < len;) {
        size_t n;
        const char *line = text_line(text, len, &at, &n);

        if (!n)
            return err_set(err, "line %zu is empty", number + 1);
        if (number == WORDPIECE_MAX)
            return err_set(err, "line %zu is one too many", number + 1);
        if (text_lexicon_add(token, line, n) != number++)
            return err_set(err, "line %zu has a token that is there already",
                           number);
    }
    return find_token(wordpiece, "[CLS]", &wordpiece->start, err) ||
                   find_token(wordpiece, "[SEP]", &wordpiece->end, err) ||
                   find_token(wordpiece, "[UNK]", &wordpiece->unknown, err)
               ? -1
               : 0;
}

static int
is_chinese(uint32_t c)
{
    static const uint32_t range[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},
                                        {0x20000, 0x2a6df}, {0x2a700, 0x2b73f},
                                        {0x2b740, 0x2b81f}, {0x2b820, 0x2ceaf},
                                        {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};

    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        if (c >= range[i][0] && c <= range[i][1])
            return 1;
    return 0;
}

static int
is_punctuation(uint32_t c)
{
    if (c >= 0x80)
        return uc_is_general_category(c, UC_PUNCTUATION);
    return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') &&
           !(c >= 'a' && c <= 'z');
}

/* Returns the longest token of the word from `at` on, with its end in *end, or
 * LEXICON_NONE. Two bytes before the word are free for the ##. */
static int64_t
find_longest_token(const struct wordpiece *wordpiece, uint8_t *word, size_t n,
                   size_t at, size_t *end)
{
    uint8_t saved[2];
    int64_t id = LEXICON_NONE;
    const size_t mark = at ? 2 : 0;

    memcpy(saved, word + at - 2, 2);
    memcpy(word + at - 2, "##", 2);
    for (*end = n; *end > at; (*end)--) {
        if (*end < n && (word[*end] & 0xc0) == 0x80)
            continue; // within a character
        id = text_lexicon_find(&wordpiece->token, word + at - mark,
                               *end - at + mark);
        if (id >= 0)
            break;
    }
    memcpy(word + at - 2, saved, 2);
    return id;
}

/* Adds the tokens of wordpiece->word, which begins with two free bytes. */
static void
add_word(struct wordpiece *wordpiece, size_t chars, struct tokens *tokens)
{
    uint8_t *word = wordpiece->word.data + 2;
    const size_t n = wordpiece->word.len - 2, before = tokens->n;
    int64_t id = chars > WORDPIECE_WORD_CHARS ? LEXICON_NONE : 0;

    for (size_t at = 0; id >= 0 && at < n;) {
        size_t end;

        id = find_longest_token(wordpiece, word, n, at, &end);
        if (id >= 0)
            text_tokens_add(tokens, (int32_t)id);
        at = end;
    }
    if (id < 0) {
        tokens->n = before;
        text_tokens_add(tokens, wordpiece->unknown);
    }
    wordpiece->word.len = 2;
}

void
text_wordpiece_encode(struct wordpiece *wordpiece, const uint8_t *fold,
                      size_t n, struct tokens *tokens)
{
    struct data_bytes *word = &wordpiece->word;
    size_t len, chars = 0;
    uint8_t *text = u8_normalize(UNINORM_NFD, fold, n, NULL, &len);

    REQUIRE(text);
    word->len = 0;
    text_append(word, "##", 2);
    for (size_t at = 0, more; at < len; at += more) {
        uint32_t c;
        int alone;

        more = text_utf8_next(text + at, len - at, &c);
        if (c == UTF8_BAD || uc_is_general_category_withtable(c, DROPPED))
            continue;
        alone = is_punctuation(c) || is_chinese(c);
        if (alone && chars)
            add_word(wordpiece, chars, tokens);
        chars = alone ? 1 : chars + 1;
        text_append(word, text + at, more);
        if (alone)
            add_word(wordpiece, chars, tokens);
        chars = alone ? 0 : chars;
    }
    if (chars)
        add_word(wordpiece, chars, tokens);
    free(text);
}

void
text_wordpiece_text(const struct wordpiece *wordpiece, struct data_bytes *text)
{
    for (size_t i = 0; i < wordpiece->token.n; i++) {
        size_t n;
        const char *token = text_lexicon_text(&wordpiece->token, i, &n);

        text_append(text, token, n);
        text_append(text, "\n", 1);
    }
}

int
text_wordpiece_decode(const struct wordpiece *wordpiece, int32_t id, int apart,
                      struct data_bytes *text)
{
    size_t n;
    const char *token = text_lexicon_text(&wordpiece->token, (size_t)id, &n);
    const size_t mark = n > 2 && !memcmp(token, "##", 2) ? 2 : 0;

    if (apart && !mark)
        text_append(text, " ", 1);
    text_append(text, token + mark, n - mark);
    return 1;
}

void
text_wordpiece_release(struct wordpiece *wordpiece)
{
    text_lexicon_release(&wordpiece->token);
    data_bytes_release(&wordpiece->word);
    *wordpiece = (struct wordpiece){0};
}
