#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "data/features.h"
#include "t.h"
#include "util/file.h"

/* More rows than in a group. */
enum { N = 65536 + 100, D = 3, COLUMNS = 5, PAGES = 2 * COLUMNS };

static float x[N * D];
static int64_t ids[N], labels[N], same[N];
static struct err err;

/* ------------------------------- a reader of Thrift's compact protocol */

static const uint8_t *at;

/* Contents of a file: numbers by the path of their fields. */
static struct {
    int64_t offset[PAGES], values[PAGES], rows[2], total, size;
    size_t offsets, counts, groups;
    char names[200]; /* of the schema, a space after each */
} seen;

static uint64_t
read_varint(void)
{
    uint64_t number = 0;

    for (int shift = 0; shift < 64; shift += 7) {
        number |= (uint64_t)(*at & 127) << shift;
        if (*at++ < 128)
            break;
    }
    return number;
}

static void
note_number(const char *path, int64_t number)
{
    if (!strcmp(path, "4.1.3.9") && seen.offsets < PAGES)
        seen.offset[seen.offsets++] = number;
    if (!strcmp(path, "4.1.3.5") && seen.counts < PAGES)
        seen.values[seen.counts++] = number;
    if (!strcmp(path, "4.3") && seen.groups < 2)
        seen.rows[seen.groups++] = number;
    if (!strcmp(path, "3"))
        seen.total = number;
    if (!strcmp(path, "page.2"))
        seen.size = number;
}

static void
note_text(const char *path, const uint8_t *text, size_t len)
{
    const size_t n = strlen(seen.names);

    if (!strcmp(path, "2.4"))
        snprintf(seen.names + n, sizeof seen.names - n, "%.*s ", (int)len,
                 (const char *)text);
}

/* Reads a value of a type, recursively. */
static void
read_value(int type, const char *path)
{
    if (type == 5 || type == 6) {
        const uint64_t number = read_varint();

        note_number(path, (int64_t)(number >> 1) ^ -(int64_t)(number & 1));
    } else if (type == 8) {
        const size_t len = read_varint();

        note_text(path, at, len);
        at += len;
    } else if (type == 9) {
        const int head = *at++;
        const size_t n = head >> 4 == 15 ? read_varint() : (size_t)head >> 4;

        for (size_t i = 0; i < n; i++)
            read_value(head & 15, path);
    } else if (type == 12) {
        int field = 0;

        while (*at) {
            char inner[40];
            const int head = *at++;

            field += head >> 4;
            snprintf(inner, sizeof inner, "%s%s%d", path, *path ? "." : "",
                     field);
            read_value(head & 15, inner);
        }
        at++;
    }
}

/* ---------------------------------------------------------------- the test */

static uint32_t
read_length(const uint8_t *from)
{
    uint32_t number;

    memcpy(&number, from, sizeof number);
    return number;
}

/* Reads the levels of `n` values, runs of one byte each, as texts of 0 and
 * 1. */
static char *
read_levels(size_t n)
{
    const uint8_t *end = at + 4 + read_length(at);
    char *levels = calloc(n + 1, 1);
    size_t have = 0;

    for (at += 4; at < end;) {
        const size_t run = read_varint() >> 1;

        for (size_t i = 0; i < run && have < n; i++)
            levels[have++] = (char)('0' + *at);
        at++;
    }
    return levels;
}

/* Reads the header of a page; returns its values. */
static const uint8_t *
open_page(const uint8_t *file, size_t group, size_t column)
{
    at = file + seen.offset[group * COLUMNS + column];
    read_value(12, "page");
    return at;
}

static void
lists_are_there(const uint8_t *file, size_t group, size_t from, size_t n)
{
    const uint8_t *begin = open_page(file, group, 4);
    char *repeated = read_levels(n * D), *defined = read_levels(n * D);
    int fine = strlen(repeated) == n * D && strlen(defined) == n * D;

    for (size_t i = 0; i < n * D && fine; i++)
        fine = repeated[i] == (i % D ? '1' : '0') && defined[i] == '1';
    T(fine, "levels of group %zu are lists of %d", group, D);
    T(!memcmp(at, x + from * D, n * D * sizeof *x), "with the features");
    T((size_t)(at - begin) + n * D * sizeof *x == (size_t)seen.size,
      "in a page of its size");
    free(repeated);
    free(defined);
}

static void
a_group_is_there(const uint8_t *file, size_t group, size_t from, size_t n)
{
    const uint8_t *name = open_page(file, group, 3);
    int fine = 1;

    for (size_t i = from; i < from + n && fine; i++) {
        const char *want = labels[i] < 0    ? ""
                           : labels[i] == 0 ? "cat"
                                            : "two words";

        fine = read_length(name) == strlen(want) &&
               !memcmp(name + 4, want, strlen(want));
        name += 4 + strlen(want);
    }
    T(fine, "names of the classes of group %zu", group);
    T(!memcmp(open_page(file, group, 0), ids + from, n * 8), "its ids");
    T(!memcmp(open_page(file, group, 1), labels + from, n * 8), "its labels");
    T(!memcmp(open_page(file, group, 2), same + from, n * 8), "its groups");
    lists_are_there(file, group, from, n);
}

static void
a_table_is_there(void)
{
    const char *name[2] = {"cat", "two words"};
    struct data_features in = {.n = N,
                               .d = D,
                               .x = x,
                               .ids = ids,
                               .labels = labels,
                               .same = same,
                               .about = json_pack("{s:s}", "layer", "h"),
                               .classes = {.n = 2, .name = name}};
    uint8_t *file;
    size_t len = 0;

    T(!data_features_write("a.parquet", &in, &err), "written");
    T(!file_exists("a.ids.npy"), "alone");
    file = file_read("a.parquet", 1 << 26, &len, &err);
    T(file && len > 12 && !memcmp(file, "PAR1", 4) &&
          !memcmp(file + len - 4, "PAR1", 4),
      "the file begins and ends as Parquet");
    at = file + len - 8 - read_length(file + len - 8);
    read_value(12, "");
    T(at == file + len - 8, "the metadata end at the right place");
    T(!strcmp(seen.names, "features id label same class x list element "),
      "columns: %s", seen.names);
    T(seen.total == N && seen.groups == 2 && seen.rows[0] == 65536 &&
          seen.rows[1] == 100,
      "rows in two groups");
    T(seen.offsets == PAGES && seen.counts == PAGES &&
          seen.values[0] == 65536 && seen.values[9] == 100 * D,
      "values of each column");
    a_group_is_there(file, 0, 0, 65536);
    a_group_is_there(file, 1, 65536, 100);
    free(file);
    json_decref(in.about);
}

static void
rows_alone_are_there(void)
{
    struct data_features in = {.n = 2, .d = 1, .x = x};
    uint8_t *file;
    size_t len = 0;
    int64_t id[2];

    memset(&seen, 0, sizeof seen);
    T(!data_features_write("b.parquet", &in, &err), "without ids and labels");
    file = file_read("b.parquet", 1 << 20, &len, &err);
    at = file + len - 8 - read_length(file + len - 8);
    read_value(12, "");
    T(!strcmp(seen.names, "features id x list element "), "two columns");
    memcpy(id, open_page(file, 0, 0), sizeof id);
    T(id[0] == 0 && id[1] == 1, "rows are numbered");
    free(file);
    T(data_features_write("no/b.parquet", &in, &err) &&
          strstr(err.msg, "no/b.parquet"),
      "no folder for it: %s", err.msg);
}

int
main(void)
{
    char folder[256];

    child_scratch(folder);
    for (int i = 0; i < N; i++) {
        ids[i] = 7 * i;
        labels[i] = i % 3 - 1;
        same[i] = i / 2;
        for (int k = 0; k < D; k++)
            x[i * D + k] = (float)(i - k) / 8;
    }
    a_table_is_there();
    rows_alone_are_there();
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
