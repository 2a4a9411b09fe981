#include <stdlib.h>
#include <string.h>

#include "text/vocabulary.h"
#include "util/gz.h"
#include "util/mem.h"

#include "bpe.h"
#include "text/text.h"
#include "wordpiece.h"

enum {
    MAX_FILE = 1 << 26,
    MAX_CACHED = 1 << 16, // words in the cache
    MAX_WORD = 64         // bytes of one of them
};

struct text_vocabulary {
    int is_wordpiece;
    struct bpe bpe;
    struct wordpiece wordpiece;
    struct digest digest;

    struct lexicon cached; // words before folding
    struct cached_word {
        size_t at;
        uint32_t n;
    } * cached_word; // [cached.n] their tokens in cached_tokens
    size_t cached_room;
    struct tokens cached_tokens;
    struct tokens tokens; // of one word that is not cached
    struct data_bytes fold;
};

struct text_vocabulary *
text_vocabulary_parse(const char *text, size_t len, struct err *err)
{
    struct text_vocabulary *vocabulary = mem_array(1, sizeof *vocabulary);
    char *own;
    int rc;

    for (size_t at = 0, n; at < len && !vocabulary->is_wordpiece;) {
        const char *line = text_line(text, len, &at, &n);

        // a list of merges has no line without a space
        vocabulary->is_wordpiece = n == 5 && !memcmp(line, "[UNK]", n);
    }
    rc = vocabulary->is_wordpiece
             ? text_wordpiece_parse(&vocabulary->wordpiece, text, len, err)
             : text_bpe_parse(&vocabulary->bpe, text, len, err);
    if (rc) {
        text_vocabulary_free(vocabulary);
        return NULL;
    }
    own = text_vocabulary_text(vocabulary, &len);
    vocabulary->digest = digest_bytes(own, len);
    free(own);
    return vocabulary;
}

/* Returns the bytes of a file that may be gzipped, or NULL; the caller frees
 * them. */
static char *
read_file(const char *path, size_t *len, struct err *err)
{
    struct gzFile_s *file = data_gz_open(path, err);
    char *text = NULL;
    size_t room = 0, got = 1;
    int rc = 0;

    if (!file)
        return NULL;
    *len = 0;
    while (!rc && got) {
        mem_grow(&text, &room, *len + (1 << 16), 1);
        rc = data_gz_take(file, path, text + *len, 1 << 16, &got, err);
        *len += got;
        if (!rc && *len > MAX_FILE)
            rc = err_set(err, "'%s' is larger than %d bytes", path, MAX_FILE);
    }
    data_gz_close(file);
    if (!rc)
        return text;
    free(text);
    return NULL;
}

struct text_vocabulary *
text_vocabulary_open(const char *path, struct err *err)
{
    struct text_vocabulary *vocabulary;
    struct err why;
    size_t len;
    char *text = read_file(path, &len, err);

    if (!text)
        return NULL;
    vocabulary = text_vocabulary_parse(text, len, &why);
    if (!vocabulary)
        err_set(err, "'%s' is no vocabulary: %s", path, why.msg);
    free(text);
    return vocabulary;
}

void
text_vocabulary_free(struct text_vocabulary *vocabulary)
{
    if (!vocabulary)
        return;
    text_bpe_release(&vocabulary->bpe);
    text_wordpiece_release(&vocabulary->wordpiece);
    text_lexicon_release(&vocabulary->cached);
    text_tokens_release(&vocabulary->cached_tokens);
    text_tokens_release(&vocabulary->tokens);
    data_bytes_release(&vocabulary->fold);
    mem_free(vocabulary->cached_word, vocabulary);
}

size_t
text_vocabulary_size(const struct text_vocabulary *vocabulary)
{
    return vocabulary->is_wordpiece
               ? vocabulary->wordpiece.token.n
               : SYMBOLS_FIRST + vocabulary->bpe.merges.n + 2;
}

int32_t
text_vocabulary_start(const struct text_vocabulary *vocabulary)
{
    return vocabulary->is_wordpiece
               ? vocabulary->wordpiece.start
               : (int32_t)text_vocabulary_size(vocabulary) - 2;
}

int32_t
text_vocabulary_end(const struct text_vocabulary *vocabulary)
{
    return vocabulary->is_wordpiece
               ? vocabulary->wordpiece.end
               : (int32_t)text_vocabulary_size(vocabulary) - 1;
}

struct digest
text_vocabulary_digest(const struct text_vocabulary *vocabulary)
{
    return vocabulary->digest;
}

char *
text_vocabulary_text(const struct text_vocabulary *vocabulary, size_t *len)
{
    struct data_bytes text = {0};

    if (vocabulary->is_wordpiece)
        text_wordpiece_text(&vocabulary->wordpiece, &text);
    else
        text_bpe_text(&vocabulary->bpe, &text);
    *len = text.len;
    return (char *)text.data;
}

/* Computes the tokens of a word, without the cache. */
static const struct tokens *
make_tokens(struct text_vocabulary *vocabulary, const char *word, size_t n)
{
    struct tokens *tokens = &vocabulary->tokens;
    const struct data_bytes *fold = &vocabulary->fold;

    tokens->n = 0;
    text_fold(word, n, &vocabulary->fold);
    if (vocabulary->is_wordpiece) {
        text_wordpiece_encode(&vocabulary->wordpiece, fold->data, fold->len,
                              tokens);
        return tokens;
    }
    for (size_t at = 0; at < fold->len;) {
        const size_t piece = text_piece(fold->data + at, fold->len - at);

        text_bpe_encode(&vocabulary->bpe, fold->data + at, piece, tokens);
        at += piece;
    }
    return tokens;
}

/* Returns the tokens of a word, *count of them, valid until the next call. */
static const int32_t *
tokens_of(struct text_vocabulary *v, const char *word, size_t n, size_t *count)
{
    const struct cached_word *found;
    const struct tokens *tokens;
    int64_t i;

    if (n > MAX_WORD) {
        tokens = make_tokens(v, word, n);
        *count = tokens->n;
        return tokens->id;
    }
    i = text_lexicon_find(&v->cached, word, n);
    if (i < 0) {
        if (v->cached.n == MAX_CACHED) {
            text_lexicon_clear(&v->cached);
            v->cached_tokens.n = 0;
        }
        i = (int64_t)text_lexicon_add(&v->cached, word, n);
        tokens = make_tokens(v, word, n);
        mem_grow(&v->cached_word, &v->cached_room, v->cached.n,
                 sizeof *v->cached_word);
        v->cached_word[i] =
            (struct cached_word){v->cached_tokens.n, (uint32_t)tokens->n};
        for (size_t k = 0; k < tokens->n; k++)
            text_tokens_add(&v->cached_tokens, tokens->id[k]);
    }
    found = &v->cached_word[i];
    *count = found->n;
    return found->n ? v->cached_tokens.id + found->at : NULL;
}

size_t
text_vocabulary_encode(struct text_vocabulary *vocabulary, const char *text,
                       size_t len, double drop, struct rng *rng, size_t most,
                       int32_t *token)
{
    size_t n = 0, at = 0, bytes;
    const char *word;

    while (n < most && text_word(text, len, &at, &word, &bytes)) {
        size_t count;
        const int32_t *id = tokens_of(vocabulary, word, bytes, &count);

        for (size_t i = 0; i < count && n < most; i++)
            if (drop <= 0 || rng_unit(rng) >= drop)
                token[n++] = id[i];
    }
    return n;
}

void
text_vocabulary_decode(const struct text_vocabulary *vocabulary, size_t n,
                       const int32_t *token, struct data_bytes *text)
{
    const int32_t start = text_vocabulary_start(vocabulary),
                  end = text_vocabulary_end(vocabulary);
    int apart = 0;

    text->len = 0;
    for (size_t i = 0; i < n; i++) {
        if (token[i] == start || token[i] == end)
            continue;
        REQUIRE(token[i] >= 0 &&
                (size_t)token[i] < text_vocabulary_size(vocabulary));
        apart = vocabulary->is_wordpiece
                    ? text_wordpiece_decode(&vocabulary->wordpiece, token[i],
                                            apart, text)
                    : text_bpe_decode(&vocabulary->bpe, token[i], apart, text);
    }
    text_append(text, "", 1);
    text->len--;
}
