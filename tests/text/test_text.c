#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "text/text.h"
#include "util/rng.h"

/* Writes the characters of a text, U+FFFD as '?', others beyond ASCII as
 * 'x'. */
static const char *
read_all(const char *text, size_t len)
{
    static char out[64];
    size_t n = 0;

    for (size_t at = 0; at < len;) {
        uint32_t c;

        at += text_utf8_next(text + at, len - at, &c);
        out[n++] = c == UTF8_BAD ? '?' : c < 0x80 ? (char)c : 'x';
    }
    out[n] = 0;
    return out;
}

#define READS(text, want, ...) \
    T(!strcmp(read_all(text, sizeof text - 1), want), __VA_ARGS__)

/* The examples of Unicode 15, tables 3-8 to 3-11, and ends of ranges. */
static void
characters_are_read(void)
{
    uint32_t c;

    READS("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", "????????A",
          "overlong forms are a bad part for each byte");
    READS("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", "????????A",
          "surrogates are a bad part for each byte");
    READS("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", "?????A??B",
          "beyond U+10FFFF is a bad part for each byte");
    READS("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "????A",
          "a truncated character is one bad part");
    READS("\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f"
          "\xbf\xbf",
          "xxxxxx", "the ends of all ranges are characters");
    READS("a\xe2\x82", "a?", "a text may end within a character");
    T(text_utf8_next("\xf0\x9f\x91\x95", 4, &c) == 4 && c == 0x1f455,
      "four bytes are one character");
    T(text_utf8_next("\xe2\x82\xac", 3, &c) == 3 && c == 0x20ac,
      "three bytes are one character");
}

static void
a_cut_splits_no_character(void)
{
    static const char text[] = "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x91\x95z";
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    size_t right = 0;

    for (size_t most = 0; most < sizeof want / sizeof *want; most++)
        right += text_utf8_cut(text, sizeof text - 1, most) == want[most];
    T(right == sizeof want / sizeof *want,
      "characters of 1 to 4 bytes stay whole");
    T(text_utf8_cut("\x80\x80\x80\x80\x80", 5, 4) == 4,
      "invalid bytes are cut anywhere");
}

/* Returns the normal form of a text: its words folded, separated by spaces. */
static const char *
normal(const char *text, size_t len)
{
    static char out[256];
    struct data_bytes fold = {0};
    size_t at = 0, n = 0, bytes;
    const char *word;

    while (text_word(text, len, &at, &word, &bytes)) {
        if (n)
            out[n++] = ' ';
        text_fold(word, bytes, &fold);
        memcpy(out + n, fold.data, fold.len);
        n += fold.len;
    }
    out[n] = 0;
    data_bytes_release(&fold);
    return out;
}

#define IS(text, want, ...) \
    T(!strcmp(normal(text, sizeof text - 1), want), __VA_ARGS__)

static void
texts_become_normal(void)
{
    IS("  A  red\t\nShirt \r", "a red shirt", "blanks and case of ASCII");
    IS("", "", "an empty text stays empty");
    IS(" \t ", "", "blanks become nothing");
    IS("E\xcc\x81T\xc3\x89", "\xc3\xa9t\xc3\xa9", "form C, then lower case");
    IS("a\xc2\xa0"
       "b\xc2\x85"
       "c\xe2\x80\x83"
       "d\xe3\x80\x80"
       "e\xe1\x9a\x80"
       "f\xe2\x80\xa8g",
       "a b c d e f g", "White_Space beyond ASCII separates words");
    IS("a\x1c"
       "b\xe2\x80\x8b"
       "c\xef\xbb\xbf"
       "d",
       "a\x1c"
       "b\xe2\x80\x8b"
       "c\xef\xbb\xbf"
       "d",
       "U+001C, U+200B and U+FEFF do not");
    IS("\xc4\xb0I", "i\xcc\x87i", "a dotted capital I keeps its dot");
    IS("\xe2\x84\xa6\xe2\x84\xaa\xe2\x84\xab", "\xcf\x89k\xc3\xa5",
       "Ohm, Kelvin and Angstrom are letters");
    IS("A\xff"
       "B",
       "a\xef\xbf\xbd"
       "b",
       "a byte of invalid UTF-8 is U+FFFD");
    IS("\xe2\x82 x", "\xef\xbf\xbd x", "a bad part ends at a blank");
}

#define SIGMA "\xce\xa3"
#define SMALL "\xcf\x83"
#define FINAL "\xcf\x82"

static void
sigma_depends_on_its_neighbours(void)
{
    IS("A" SIGMA, "a" FINAL, "a sigma at the end of a word is final");
    IS("A" SIGMA "A", "a" SMALL "a", "a sigma within a word is not final");
    IS(SIGMA "A", SMALL "a", "a sigma at the start is not final");
    IS(SIGMA, SMALL, "a sigma alone is not final");
    IS("A" SIGMA ".", "a" FINAL ".", "a full stop after sigma does not count");
    IS("A" SIGMA "'S", "a" SMALL "'s",
       "an apostrophe after sigma does not count");
    IS("T'" SIGMA "\xcc\x9c", "t'" FINAL "\xcc\x9c", "on either side");
    IS("A" SIGMA "\xcc\x81", "a" FINAL "\xcc\x81",
       "an accent after sigma does not count");
    IS("\xca\xb7" SIGMA, "\xca\xb7" SMALL,
       "a modifier letter before sigma does not count");
    IS("A" SIGMA "-A", "a" FINAL "-a", "a hyphen separates");
    IS("A" SIGMA " A", "a" FINAL " a", "a blank separates");
}

/* Returns the pieces of a folded word, separated by bars. */
static const char *
pieces(const char *word)
{
    static char out[64];
    const size_t len = strlen(word);
    size_t n = 0;

    for (size_t at = 0; at < len;) {
        const size_t piece = text_piece((const uint8_t *)word + at, len - at);

        if (at)
            out[n++] = '|';
        memcpy(out + n, word + at, piece);
        n += piece;
        at += piece;
    }
    out[n] = 0;
    return out;
}

static void
words_have_pieces(void)
{
    T(!strcmp(pieces("don't"), "don|'t"), "a contraction is a piece");
    T(!strcmp(pieces("we'll've'd'm's're"), "we|'ll|'ve|'d|'m|'s|'re"),
      "all seven of them");
    T(!strcmp(pieces("'tis"), "'t|is"), "at any position");
    T(!strcmp(pieces("x''s"), "x|''|s"),
      "two apostrophes begin no contraction");
    T(!strcmp(pieces("l'x"), "l|'|x"), "other apostrophes are ordinary");
    T(!strcmp(pieces("a12b"), "a|1|2|b"), "each digit is a piece");
    T(!strcmp(pieces("--?!x"), "--?!|x"), "others are together");
    T(!strcmp(pieces("\xc3\xa4\xc2\xbd\xe2\x85\xa3\xe6\x9d\xb1-"),
              "\xc3\xa4|\xc2\xbd|\xe2\x85\xa3|\xe6\x9d\xb1|-"),
      "letters and numbers of every script");
    T(!strcmp(pieces("n\xcc\x83o"), "n|\xcc\x83|o"), "a mark is no letter");
}

/* Random texts: folding twice is folding, and words have the documented
 * properties. */
static void
folding_twice_is_folding(void)
{
    static const char alphabet[][5] = {"a",
                                       "B",
                                       " ",
                                       "'",
                                       "\xc3\x89",
                                       "\xcc\x81",
                                       SIGMA,
                                       "\xf0\x90\x90\x80",
                                       "\xff",
                                       "\xe2\x82",
                                       "\xe1\xba\x9e",
                                       "\xe2\x80\x83",
                                       "1",
                                       "\xea\xb0\x80",
                                       "\xcc\xa3"};
    size_t same = 0;

    for (uint64_t i = 0; i < 500; i++) {
        char text[80] = "", once[256];
        struct rng rng;

        rng_init(&rng, 1, RNG_TEST, i, 0, 0);
        for (uint64_t n = rng_below(&rng, 16); n; n--)
            strcat(
                text,
                alphabet[rng_below(&rng, sizeof alphabet / sizeof *alphabet)]);
        strcpy(once, normal(text, strlen(text)));
        same += !strcmp(normal(once, strlen(once)), once);
    }
    T(same == 500, "500 folded random texts are in normal form");
}

int
main(void)
{
    characters_are_read();
    a_cut_splits_no_character();
    texts_become_normal();
    sigma_depends_on_its_neighbours();
    words_have_pieces();
    folding_twice_is_folding();
    return t_done();
}
