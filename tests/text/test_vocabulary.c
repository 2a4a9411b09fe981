#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "folder.h"
#include "t.h"
#include "text/bpe.h"
#include "text/captions.h"
#include "util/mem.h"
#include "util/rng.h"

enum { MOST = 4096 };

static int32_t token[MOST];

static struct text_vocabulary *
parse(const char *text)
{
    struct text_vocabulary *vocabulary =
        text_vocabulary_parse(text, strlen(text), &err);

    REQUIRE(vocabulary);
    return vocabulary;
}

static size_t
encode(struct text_vocabulary *vocabulary, const char *text)
{
    return text_vocabulary_encode(vocabulary, text, strlen(text), 0, NULL, MOST,
                                  token);
}

/* Returns the tokens of a text as a line of numbers. */
static const char *
ids(struct text_vocabulary *vocabulary, const char *text)
{
    static char line[MOST * 8];
    const size_t n = encode(vocabulary, text);
    size_t at = 0;

    *line = 0;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(line + at, sizeof line - at, "%s%d",
                               i ? " " : "", token[i]);
    return line;
}

/* Takes a cell of a table out of *line, and replaces the escapes \n, \t and
 * \\. */
static char *
cut_cell(char **line)
{
    char *cell = *line, *to = cell, *from = cell;

    for (; *from && *from != '\t' && *from != '\n'; from++)
        if (*from == '\\') {
            from++;
            *to++ = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
        } else {
            *to++ = *from;
        }
    *line = from + (*from != 0);
    *to = 0;
    return cell;
}

/* Strings in forty languages and of random characters, from tokens/make.mjs. */
static void
agrees_with_hugging_face(void)
{
    struct text_vocabulary *bpe =
        text_vocabulary_open("tests/text/tokens/merges.txt", &err);
    struct text_vocabulary *wordpiece =
        text_vocabulary_open("tests/text/tokens/vocab.txt", &err);
    size_t len, n = 0, m = 0, unlike = 0, again = 0;
    char *text = file_read("tests/text/tokens/cases.tsv", 1 << 24, &len, &err);

    REQUIRE(bpe && wordpiece && text);
    for (char *line = text; *line;) {
        const char *string = cut_cell(&line), *want = cut_cell(&line),
                   *other = cut_cell(&line);
        const int same = !strcmp(ids(bpe, string), want);

        if (!same && !unlike++)
            printf("# '%s': %s, want %s\n", string, ids(bpe, string), want);
        again += !strcmp(ids(bpe, string), want);
        n++;
        if (!strcmp(other, "-"))
            continue;
        m++;
        if (strcmp(ids(wordpiece, string), other) && !unlike++)
            printf("# '%s': %s, want %s\n", string, ids(wordpiece, string),
                   other);
    }
    T(n > 2000 && m > 2000, "%zu strings for merges, %zu for WordPiece", n, m);
    T(!unlike, "all have the same tokens");
    T(again == n, "all have the same tokens a second time, from the cache");
    free(text);
    text_vocabulary_free(bpe);
    text_vocabulary_free(wordpiece);
}

static void
bytes_alone(void)
{
    struct text_vocabulary *v = parse("#version: 0.2\n");

    T(text_vocabulary_size(v) == 514, "no merge: 514 tokens");
    T(text_vocabulary_start(v) == 512 && text_vocabulary_end(v) == 513,
      "the last two are start and end");
    T(!strcmp(ids(v, "!"), "256") && !strcmp(ids(v, "~~"), "93 349"),
      "ASCII comes first, 256 higher at the end of a word");
    T(!strcmp(ids(v, "\xc2\xa1\xc3\xbf"), "126 350 127 379"),
      "then Latin-1, then the rest");
    T(encode(v, "<|endoftext|>") == 13, "names of special tokens are text");
    T(encode(v, "") == 0 && encode(v, " \n ") == 0,
      "an empty text has no token");
    text_vocabulary_free(v);
}

static void
merges_apply_in_their_order(void)
{
    struct text_vocabulary *v = parse("b c\na b\nc d</w>\nab cd</w>\n");

    T(text_vocabulary_size(v) == 518, "a first line may be a merge");
    T(!strcmp(ids(v, "abc"), "513 322"),
      "bytes at the end of a word are a different symbol");
    T(!strcmp(ids(v, "abcx"), "64 512 343"), "the first merge goes first");
    T(!strcmp(ids(v, "abcd"), "64 512 323"),
      "the first merge goes first although others match more");
    T(!strcmp(ids(v, "ab abx"), "64 321 513 343"),
      "a word without the first merge gets the second");
    text_vocabulary_free(v);
}

/* Returns 1 if merge m is of these symbols. */
static int
is_merge(const struct bpe *bpe, size_t m, const int32_t symbol[2])
{
    size_t n;

    return !memcmp(text_lexicon_text(&bpe->merges, m, &n), symbol,
                   2 * sizeof *symbol);
}

/* Naive encoding: the best merge, everywhere, until none applies. */
static size_t
encode_naively(const struct bpe *bpe, const char *word, int32_t *symbol)
{
    size_t n = strlen(word);

    for (size_t i = 0; i < n; i++)
        symbol[i] = bpe->symbols.of_byte[(uint8_t)word[i]] +
                    (i + 1 == n ? SYMBOLS_BYTES : 0);
    for (;;) {
        size_t best = bpe->merges.n;

        for (size_t m = bpe->merges.n; m--;)
            for (size_t i = 0; i + 1 < n; i++)
                if (is_merge(bpe, m, symbol + i))
                    best = m;
        if (best == bpe->merges.n)
            return n;
        for (size_t i = 0; i + 1 < n; i++)
            if (is_merge(bpe, best, symbol + i)) {
                symbol[i] = SYMBOLS_FIRST + (int32_t)best;
                memmove(symbol + i + 1, symbol + i + 2,
                        (n - i - 2) * sizeof *symbol);
                n--;
            }
    }
}

static void
any_merges_encode_naively(void)
{
    size_t same = 0, fewer = 0;

    for (uint64_t seed = 0; seed < 300; seed++) {
        struct bpe bpe = {.merges.n = 0};
        struct tokens tokens = {0};
        int32_t want[64];
        char word[64];
        struct rng rng;
        size_t n = 1 + seed % 60, m;

        rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
        text_bpe_init(&bpe);
        for (int i = 0; i < 60; i++) { // of a, b, both at an end, what is made
            const int32_t base[] = {64, 65, 320, 321};
            const size_t left = rng_below(&rng, 2 + bpe.merges.n),
                         right = rng_below(&rng, 4 + bpe.merges.n);

            text_bpe_add(&bpe, left < 2 ? base[left] : (int32_t)(510 + left),
                         right < 4 ? base[right] : (int32_t)(508 + right));
        }
        for (size_t i = 0; i < n; i++)
            word[i] = (char)('a' + rng_below(&rng, 2));
        word[n] = 0;
        text_bpe_encode(&bpe, (const uint8_t *)word, n, &tokens);
        m = encode_naively(&bpe, word, want);
        same += m == tokens.n && !memcmp(tokens.id, want, m * sizeof *want);
        fewer += m < n;
        text_tokens_release(&tokens);
        text_bpe_release(&bpe);
    }
    T(same == 300, "300 words by random merges equal the naive encoding");
    T(fewer > 250, "most words have a merge (%zu)", fewer);
}

static int
refuses(const char *text, const char *why)
{
    struct text_vocabulary *vocabulary =
        text_vocabulary_parse(text, strlen(text), &err);
    const int refused = !vocabulary && strstr(err.msg, why);

    if (!refused)
        printf("# %s\n", vocabulary ? "taken" : err.msg);
    text_vocabulary_free(vocabulary);
    return refused;
}

static void
bad_files_are_refused(void)
{
    T(refuses("#version: 0.2\na b\nab\n", "line 3 is not two symbols"),
      "one symbol in a line, by its number");
    T(refuses("a b c\n", "line 1 is not two"), "three symbols");
    T(refuses("a b\n\n", "line 2 is not two"), "an empty line");
    T(refuses("ab c\na b\n", "line 1 has a symbol that no line above makes"),
      "a symbol before it is made");
    T(refuses(" b\n", "line 1 has a symbol"), "an empty symbol");
    T(refuses("a \xff\n", "line 1 has a symbol"), "an invalid symbol");
    T(refuses("a b\na b\n", "line 2 makes a symbol that is there already"),
      "a repeated merge");
    T(refuses("a b\nb c\nab c\na bc\n", "line 4 makes a symbol"),
      "a symbol of two merges");
    T(refuses("#version\na b\n#version\n", "line 3 is not two"),
      "a second comment");
    T(refuses("[UNK]\n[CLS]\n", "no line is [SEP]"), "WordPiece without [SEP]");
    T(refuses("[UNK]\n[SEP]\na\n", "no line is [CLS]"), "without [CLS]");
    T(refuses("[UNK]\na\n\nb\n", "line 3 is empty"), "with an empty line");
    T(refuses("[UNK]\na\r\na\n", "line 3 has a token that is there already"),
      "with a repeated token");
}

static void
files_are_read(void)
{
    static const char merges[] = "\"x.txt#version: 0.2\na b\r\nab c</w>";
    struct text_vocabulary *v, *w;
    struct digest a, b;
    gzFile file;
    size_t len;
    char *text;

    put_text("plain", merges);
    file = gzopen("zipped", "wb");
    REQUIRE(file && gzwrite(file, merges, sizeof merges - 1) &&
            gzclose(file) == Z_OK);
    v = text_vocabulary_open("plain", &err);
    w = text_vocabulary_open("zipped", &err);
    T(v && text_vocabulary_size(v) == 516, "CLIP's heading is a comment");
    T(w && text_vocabulary_size(w) == 516, "gzip is read");
    a = text_vocabulary_digest(v);
    b = text_vocabulary_digest(w);
    T(!memcmp(&a, &b, sizeof a), "the same merges have the same digest");
    text = text_vocabulary_text(v, &len);
    T(len == 27 && !memcmp(text, "#version: 0.2\na b\nab c</w>\n", len),
      "the text is in one form");
    free(text);
    text_vocabulary_free(w);
    w = parse("a b\nab d</w>\n");
    b = text_vocabulary_digest(w);
    T(memcmp(&a, &b, sizeof a), "other merges have another one");
    text_vocabulary_free(v);
    text_vocabulary_free(w);
    put_text("bad", "a b\na b\n");
    T(!text_vocabulary_open("bad", &err) &&
          strstr(err.msg, "'bad' is no vocabulary: line 2 makes"),
      "a bad file is named: %s", err.msg);
    T(!text_vocabulary_open("none", &err) && strstr(err.msg, "'none'"),
      "a missing file is named");
}

/* Adds a character as in files, of the first 188 symbols. */
static char *
write_byte(char *at, int symbol)
{
    const int c = symbol < 94    ? 33 + symbol
                  : symbol < 106 ? 67 + symbol
                                 : 68 + symbol;

    if (c >= 0x80)
        *at++ = (char)(0xc0 | c >> 6);
    *at++ = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
    return at;
}

/* CLIP's file has more lines than count. */
static void
more_merges_than_count(void)
{
    enum { BYTES = 188, LINES = 2 * BYTES * BYTES };
    char *text = mem_array(LINES, 12), *at = text;
    struct text_vocabulary *v;
    size_t len;

    for (int i = 0; i < LINES; i++) { // two bytes, or ! and two bytes: all new
        if (i >= LINES / 2)
            *at++ = '!';
        at = write_byte(at, i / BYTES % BYTES);
        *at++ = ' ';
        at = write_byte(at, i % BYTES);
        *at++ = '\n';
    }
    v = text_vocabulary_parse(text, (size_t)(at - text), &err);
    T(v && text_vocabulary_size(v) == 49408, "of 70,688 merges 48,894 count");
    T(v && !strcmp(ids(v, "~~!"), "18089 256"), "each makes its own symbol");
    free(text);
    text = text_vocabulary_text(v, &len);
    T(len && text[len - 1] == '\n', "the text ends with a line end");
    free(text);
    text_vocabulary_free(v);
}

static size_t
row_of(struct text_vocabulary *v, const char *text, size_t context,
       int32_t *row)
{
    return text_captions_row(
        text, 0, 0, &(struct text_captions_settings){.context = context}, 0, 0,
        v, row);
}

static void
rows_have_ends(void)
{
    struct text_vocabulary *v = parse("");
    int32_t row[8] = {9, 9, 9, 9, 9, 9, 9, 9};

    T(row_of(v, "ab c", 8, row) == 5 && row[0] == 512 && row[1] == 64 &&
          row[2] == 321 && row[3] == 322 && row[4] == 513 && !row[5] && !row[7],
      "start, tokens, end, zeros");
    T(row_of(v, "abcdefgh", 4, row) == 4 && row[2] == 65 && row[3] == 513,
      "a long text is cut and has an end");
    T(row_of(v, "", 8, row) == 2 && row[1] == 513 && !row[2],
      "an empty text is two tokens");
    T(row_of(v, "abc", 2, row) == 2 && row[1] == 513,
      "a context of two has only the ends");
    text_vocabulary_free(v);
}

static const char *
decoded(const struct text_vocabulary *v, size_t n)
{
    static char out[256];
    struct data_bytes text = {0};

    text_vocabulary_decode(v, n, token, &text);
    snprintf(out, sizeof out, "%s", (char *)text.data);
    data_bytes_release(&text);
    return out;
}

static void
tokens_become_text(void)
{
    struct text_vocabulary *v = parse("a b\nab c</w>\n");

    T(!strcmp(decoded(v, encode(v, "ABC \xc3\xa4  abx")), "abc \xc3\xa4 abx"),
      "words are restored");
    row_of(v, "abc", 8, token);
    T(!strcmp(decoded(v, 3), "abc"), "without start and end");
    T(!strcmp(decoded(v, 0), ""), "no tokens become an empty text");
    text_vocabulary_free(v);
    v = parse("[UNK]\n[CLS]\n[SEP]\nab\n##c\n,\n");
    T(!strcmp(decoded(v, encode(v, "abc, \xc3\xa4 ab")), "abc , [UNK] ab"),
      "WordPiece joins tokens with ##");
    text_vocabulary_free(v);
}

/* More different words than in the cache, and words too long for it. */
static void
words_that_are_not_cached(void)
{
    struct text_vocabulary *v = parse("a b\nab ab\n");
    char word[16], *longest = mem_array(100001, 1);
    size_t right = 0, n = 0;

    for (size_t i = 0; i < 150000; i++) {
        snprintf(word, sizeof word, "%zu", i % 70000);
        n = text_vocabulary_encode(v, word, strlen(word), 0, NULL, MOST, token);
        right += n == strlen(word) && token[n - 1] == 256 - 33 + word[n - 1];
    }
    T(right == 150000, "70,000 words, repeatedly, have their tokens");
    memset(longest, 'x', 100000);
    T(text_vocabulary_encode(v, longest, 100000, 0, NULL, 5, token) == 5 &&
          token[4] == 87,
      "a word of 100,000 letters has tokens");
    for (size_t i = 0; i < 100000; i++)
        longest[i] = i % 2 ? 'b' : 'a';
    T(text_vocabulary_encode(v, longest, 100000, 0, NULL, 5, token) == 5 &&
          token[4] == 513,
      "a word of 100,000 letters has merges");
    free(longest);
    text_vocabulary_free(v);
}

static void
wordpiece(void)
{
    struct text_vocabulary *v =
        parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##able\n##a\n,\n[\n]\nunk\n"
              "\xe6\x9d\xb1\ne\n");
    char text[128];

    T(text_vocabulary_size(v) == 13 && text_vocabulary_start(v) == 2 &&
          text_vocabulary_end(v) == 3,
      "ids are lines, the ends are [CLS] and [SEP]");
    T(!strcmp(ids(v, "UNABLE"), "4 5"), "the longest match is first");
    T(!strcmp(ids(v, "unab"), "1"), "a word with an unmatched rest is [UNK]");
    T(!strcmp(ids(v, "[UNK]"), "8 10 9"), "special names are text");
    T(!strcmp(ids(v, "un\xe6\x9d\xb1,un"), "4 11 7 4"),
      "Chinese characters and punctuation are words");
    T(!strcmp(ids(v, "\xc3\x89 e\xcc\x81"), "12 12"), "accents are dropped");
    T(!strcmp(ids(v, "u\xe2\x80\x8bn\x01\xff"), "4"),
      "control characters and invalid UTF-8 are dropped");
    T(!strcmp(ids(v, "u\xcd\xb8n"), "4"),
      "an unassigned code point, U+0378, is dropped");
    T(!strcmp(ids(v, "\x01"), ""), "a word of these characters has no token");
    memset(text, 'a', sizeof text);
    memcpy(text, "un", 2);
    text[100] = 0;
    T(encode(v, text) == 99, "a word of 100 characters has tokens");
    text[100] = 'a';
    text[101] = 0;
    T(!strcmp(ids(v, text), "1"), "one of 101 is [UNK]");
    text_vocabulary_free(v);
}

int
main(void)
{
    agrees_with_hugging_face();
    if (enter_folder())
        return 1;
    bytes_alone();
    merges_apply_in_their_order();
    any_merges_encode_naively();
    bad_files_are_refused();
    files_are_read();
    more_merges_than_count();
    rows_have_ends();
    tokens_become_text();
    words_that_are_not_cached();
    wordpiece();
    return leave_folder() ? 1 : t_done();
}
