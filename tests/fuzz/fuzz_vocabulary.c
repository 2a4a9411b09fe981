/* Lists of merges and WordPiece vocabularies: refused with a sentence, or all
 * tokens of any text are in range, and the list is the same written and read
 * again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/seeded.h"
#include "text/vocabulary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { MOST = 1 << 12 };

static void
use(struct text_vocabulary *vocabulary, const uint8_t *caption, size_t len)
{
    const int32_t size = (int32_t)text_vocabulary_size(vocabulary);
    static int32_t token[MOST];
    struct data_bytes text = {0};
    size_t n = text_vocabulary_encode(vocabulary, (const char *)caption, len, 0,
                                      NULL, MOST, token);

    for (size_t i = 0; i < n; i++)
        REQUIRE(token[i] >= 0 && token[i] < size);
    text_vocabulary_decode(vocabulary, n, token, &text);
    REQUIRE(strlen((char *)text.data) <= text.len);
    REQUIRE(text_vocabulary_start(vocabulary) < size &&
            text_vocabulary_end(vocabulary) < size);
    data_bytes_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char merges[] = "#version: 0.2\na b\nb c</w>\nab a\na "
                                 "a\n\xc3\x83 \xc2\xa4\nab ab</w>\n";
    static const char tokens[] =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nab\n##ab\n\xc3\xa4\n,\n##\n#\n";
    static const uint8_t *const seed[] = {(const uint8_t *)merges,
                                          (const uint8_t *)tokens};
    static const size_t seed_len[] = {sizeof merges - 1, sizeof tokens - 1};
    static uint8_t file[SEEDED_ROOM];
    struct text_vocabulary *vocabulary, *again;
    const size_t n = seeded_input(data, len, 2, seed, seed_len, file);
    struct digest a, b;
    struct err err = {""};
    size_t text_len;
    char *text;

    vocabulary = text_vocabulary_parse((const char *)file, n, &err);
    REQUIRE(vocabulary || *err.msg);
    if (!vocabulary)
        return 0;
    use(vocabulary, file, n);
    use(vocabulary, data, len);
    text = text_vocabulary_text(vocabulary, &text_len);
    again = text_vocabulary_parse(text, text_len, &err);
    REQUIRE(again);
    a = text_vocabulary_digest(vocabulary);
    b = text_vocabulary_digest(again);
    REQUIRE(!memcmp(&a, &b, sizeof a));
    free(text);
    text_vocabulary_free(again);
    text_vocabulary_free(vocabulary);
    return 0;
}
