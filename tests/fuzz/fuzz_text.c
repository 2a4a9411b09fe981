/* Any bytes as a text: its words are UTF-8 without white space once they are
 * folded, and their pieces are all of them. */
#include <stdlib.h>
#include <string.h>
#include <unistr.h>

#include "text/text.h"
#include "util/err.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check_word(const char *word, size_t n)
{
    struct data_bytes fold = {0}, all = {0};
    const char *inside;
    size_t at = 0, found;

    text_fold(word, n, &fold);
    REQUIRE(fold.len && !u8_check(fold.data, fold.len));
    REQUIRE(
        text_word((const char *)fold.data, fold.len, &at, &inside, &found) &&
        found == fold.len);
    for (at = 0; at < fold.len;) {
        const size_t piece = text_piece(fold.data + at, fold.len - at);

        REQUIRE(piece && piece <= fold.len - at &&
                !u8_check(fold.data + at, piece));
        text_append(&all, fold.data + at, piece);
        at += piece;
    }
    REQUIRE(all.len == fold.len && !memcmp(all.data, fold.data, all.len));
    data_bytes_release(&fold);
    data_bytes_release(&all);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = mem_array(len ? len : 1, 1); // no byte behind it
    const char *word;
    size_t at = 0, n, parts = 0;

    if (len)
        memcpy(text, data, len);
    while (text_word(text, len, &at, &word, &n))
        check_word(word, n);
    for (at = 0; at < len; parts++) {
        uint32_t c;

        at += text_utf8_next(text + at, len - at, &c);
        REQUIRE(at <= len && c < 0x110000 && (c < 0xd800 || c > 0xdfff));
    }
    REQUIRE(text_utf8_cut(text, len, len / 2) <= len / 2);
    REQUIRE(parts <= len);
    free(text);
    return 0;
}
