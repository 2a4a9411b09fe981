#include "fixture.h"
#include "t.h"
#include "text/captions.h"

/* Indexes "c.tar", perhaps with a table, and opens it; NULL with err. */
static struct data_index_captions done;
static struct data_index_rows rows;

static struct data_set *
open_with(const char *table)
{
    const struct data_index_settings how = {.max_pixels = IMAGE_MAX_PIXELS};
    struct data_index *index = data_index_new(&how);
    int rc = data_index_add(index, "c.tar", &err);

    while (!rc && (rc = data_index_next(index, &err)) > 0)
        rc = 0;
    if (!rc && table)
        rc = data_index_table(index, table, &rows, &err);
    if (!rc)
        rc = data_index_write(index, "c.foil", &err);
    done = data_index_report(index).captions;
    data_index_free(index);
    return rc ? NULL : data_open("c.foil", &err);
}

/* Returns the captions of a sample, separated by bars, and checks each
 * length. */
static const char *
all(const struct data_set *set, size_t id)
{
    static char out[512];
    const char *captions = set ? data_caption(set, id) : "";
    size_t at = 0;

    *out = 0;
    for (size_t k = 0; k < text_captions_count(captions); k++) {
        size_t len;
        const char *caption = text_captions_get(captions, k, &len);

        at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s",
                               k ? "|" : "", (int)len, caption);
    }
    return out;
}

static struct data_set *
with(const char *const *member)
{
    put_tar("c.tar", member);
    return open_with(NULL);
}

static void
several_of_an_image(void)
{
    static const char *const member[] = {"0.jpg",
                                         "1.jpg",
                                         "1.txt",
                                         "one",
                                         "2.jpg",
                                         "2.txt",
                                         " a\tb \r\n\n  c\n \nd\n",
                                         "3.txt",
                                         "before",
                                         "3.jpg",
                                         "3.x.jpg",
                                         NULL};
    struct data_set *set = with(member);
    struct data_facts facts;

    T(!strcmp(all(set, 0), "") &&
          text_captions_count(data_caption(set, 0)) == 0,
      "an image may have none");
    T(!strcmp(all(set, 1), "one"), "one");
    T(!strcmp(all(set, 2), "a b|c|d"),
      "an image may have several, without blank lines");
    T(!strcmp(all(set, 3), "before") && !strcmp(all(set, 4), "before"),
      "those before an image and for two images");
    T(!data_facts(set, &facts, &err) && facts.most_captions == 3 &&
          facts.captioned == 4 && facts.captions == 6 && facts.bytes > 0 &&
          facts.codec[IMAGE_CODEC_JPEG] == 5 && facts.width[0] == 8,
      "three are the most");
    T(done.captioned == 4, "four samples have some");
    data_close(set);
}

static const char *const in_json[] = {
    "0.jpg",
    "0.json",
    "{\"caption\": \"in\\nJSON\", \"width\": 3}",
    "1.json",
    "{\"captions\": [\"a\", 7, \"\", \"b\"]}",
    "1.jpg",
    "2.jpg",
    "2.json",
    "{\"caption\": \"not\"}",
    "2.txt",
    "this",
    "3.txt",
    "this",
    "3.json",
    "{\"caption\": \"not\"}",
    "3.jpg",
    "4.jpg",
    "4.json",
    "{\"caption\": \"x\"",
    "5.jpg",
    "5.json",
    "{\"captions\": 5}",
    "6.jpg",
    "6.json",
    "{\"caption\": \"kept\"}",
    "6.txt",
    " \n",
    "7.json",
    "[\"no image here\"]",
    NULL};

static void
captions_in_json(void)
{
    struct data_set *set = with(in_json);

    T(!strcmp(all(set, 0), "in JSON"), "a string is one caption");
    T(!strcmp(all(set, 1), "a|b"), "a list is several");
    T(!strcmp(all(set, 2), "this") && !strcmp(all(set, 3), "this"),
      "text takes precedence over JSON, in either order");
    T(!strcmp(all(set, 4), "") && done.broken == 1,
      "broken JSON is counted, and the image stays");
    T(!strcmp(all(set, 5), ""), "JSON may have no caption");
    T(!strcmp(all(set, 6), "kept"), "an empty text is none");
    data_close(set);
}

/* More than ten thousand letters of three bytes, then one more. */
static void
captions_that_are_mended(void)
{
    char *longest = mem_array(100002, 1), many[300] = "";
    const char *const member[] = {
        "0.jpg", "0.txt", longest, "1.jpg", "1.txt", "caf\xe9\n\xe2\x82",
        "2.jpg", "2.txt", many,    NULL};
    struct data_set *set;
    size_t len;

    for (size_t i = 0; i < 100000; i += 2)
        memcpy(longest + i + 1, "\xc3\xa4", 2);
    *longest = 'x';
    for (int i = 0; i < 70; i++)
        sprintf(many + strlen(many), "%d\n", i);
    set = with(member);
    text_captions_get(data_caption(set, 0), 0, &len);
    T(len == 65535 && done.cut == 1,
      "a caption is cut after 65,536 bytes, at a character (%zu)", len);
    T(!strcmp(all(set, 1), "caf\xef\xbf\xbd|\xef\xbf\xbd") &&
          done.repaired == 2,
      "invalid UTF-8 becomes U+FFFD");
    T(text_captions_count(data_caption(set, 2)) == 64 && done.many == 6,
      "64 of 70 captions remain");
    data_close(set);
    free(longest);
}

static void
captions_enter_the_digest(void)
{
    static const char *const bare[] = {"0.jpg", "1.jpg", NULL};
    static const char *const one[] = {"0.jpg", "0.txt", "a", "1.jpg", NULL};
    static const char *const other[] = {"0.jpg", "1.jpg", "1.txt", "a", NULL};
    static const char *const both[] = {"0.jpg", "0.txt", "a\nb", "1.jpg", NULL};
    static const char *const again[] = {"0.txt", "a\r\n", "0.jpg", "1.jpg",
                                        NULL};
    const char *const *const sets[] = {bare, one, other, both, again};
    struct digest digest[5];
    uint64_t seed[5];
    char hex[DIGEST_HEX];

    for (size_t i = 0; i < 5; i++) {
        struct data_set *set = with(sets[i]);

        digest[i] = data_digest(set);
        seed[i] = data_seed(set, 7);
        data_close(set);
    }
    for (size_t i = 1; i < 4; i++)
        for (size_t j = 0; j < i; j++)
            T(memcmp(&digest[i], &digest[j], sizeof digest[i]),
              "sets %zu and %zu differ in captions and digest", j, i);
    T(!memcmp(&digest[1], &digest[4], sizeof digest[1]),
      "the same captions in another form have the same digest");
    T(seed[0] == seed[1] && seed[0] == seed[3], "views do not depend on them");
    T(seed[0] == (7 ^ digest_word(&digest[0])),
      "views do not depend on whether there are captions");
    T(!strcmp(digest_hex(digest[0], hex), "87ffa3b22e014d53acec65b59b0796e3"),
      "without captions it is the digest of older versions: %s", hex);
}

static const char *const rows_of[] = {
    "x/a.jpg", "x/b.1.jpg", "y/a.jpg", "y/c.jpg", "y/c.txt", "beside", NULL};

static void
captions_of_a_table(void)
{
    struct data_set *set;

    put_tar("c.tar", rows_of);
    put_text("t", "x/a.jpg\tone\ny/a\tthree\r\n./x/a.jpg\ttwo\n\n"
                  "b.1.jpg\ta\\nb\\\\c\\td\\e\tmore\n");
    set = open_with("t");
    T(set && rows.used == 4 && !rows.empty && !rows.unknown && !rows.unclear,
      "all rows except the blank one are used");
    T(!strcmp(all(set, 0), "one|two"), "an image may have several rows");
    T(!strcmp(all(set, 1), "a|b\\c d\\e"),
      "a name without folders; line ends, tabs and backslashes: %s",
      all(set, 1));
    T(!strcmp(all(set, 2), "three"), "a name without its suffix");
    T(!strcmp(all(set, 3), "beside"), "other images keep their captions");
    data_close(set);
    put_text("t", "id\tTitle\tkey\n1\tred\tc\n2\tblue\tb\n");
    set = open_with("t");
    T(set && !strcmp(all(set, 3), "red") && !strcmp(all(set, 1), "blue"),
      "a heading names the columns; a table replaces other captions");
    data_close(set);
    put_text("t", "one\ttitle\tcaption\ny/c\tnot this\tthis\n");
    set = open_with("t");
    T(set && !strcmp(all(set, 3), "this"),
      "names are in the first column by default");
    data_close(set);
}

static void
rows_that_are_not_used(void)
{
    struct data_set *set;

    put_tar("c.tar", rows_of);
    put_text("t", "c\tyes\nc\na.jpg\tno\na\tno\nc\t\nz\tno\nx/b\tyes");
    set = open_with("t");
    T(set && rows.used == 2 && !strcmp(all(set, 3), "yes") &&
          !strcmp(all(set, 1), "yes"),
      "two rows are good");
    T(rows.empty == 2 && rows.empty_line == 2, "two have no caption");
    T(rows.unclear == 2 && rows.unclear_line == 3, "two name several samples");
    T(rows.unknown == 1 && rows.unknown_line == 6, "one names none");
    T(!strcmp(all(set, 0), "") && !strcmp(all(set, 2), ""),
      "ambiguous rows are not used");
    data_close(set);
    put_text("t", "z\tno\n");
    T(!open_with("t") && strstr(err.msg, "line 1 of 't' names no sample"),
      "a table of other samples is refused: %s", err.msg);
    put_text("t", "z.jpg\tno\n");
    T(!open_with("t") && strstr(err.msg, "no line of 't' names a sample") &&
          strstr(err.msg, "such as 'x/a.jpg'"),
      "a table of unknown images is refused, with an example of a name: %s",
      err.msg);
    put_text("t", "");
    T(!open_with("t") && strstr(err.msg, "'t'"), "an empty table is refused");
    T(!open_with("none") && strstr(err.msg, "'none'"),
      "a missing table is refused");
}

/* Captions of a file list belong to its lines. */
static void
inputs_do_not_mix(void)
{
    static const char *const member[] = {"0.jpg", "0.txt", "of the tar", NULL};
    static const char *const inputs[] = {"c.tar", "list", NULL};
    struct data_set *set;

    put_tar("c.tar", member);
    put_jpeg("a.jpg", 9);
    put_text("list", "a.jpg\na.jpg\tx\tof the list\n");
    T(!make_index(inputs, "m.foil", 0), "a tar, then a list");
    set = data_open("m.foil", &err);
    T(!strcmp(all(set, 0), "of the tar") && !strcmp(all(set, 1), "") &&
          !strcmp(all(set, 2), "of the list"),
      "each has its own captions");
    data_close(set);
}

int
main(void)
{
    if (enter_folder())
        return 1;
    several_of_an_image();
    captions_in_json();
    captions_that_are_mended();
    captions_enter_the_digest();
    captions_of_a_table();
    rows_that_are_not_used();
    inputs_do_not_mix();
    return leave_folder() ? 1 : t_done();
}
