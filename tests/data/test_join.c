/* Lists of indexes: one set, equal to the index of all their data. */
#include <stdio.h>
#include <sys/stat.h>

#include "data/join.h"
#include "data/layout.h"
#include "data/split.h"
#include "fixture.h"
#include "t.h"

/* Joins indexes, up to NULL, to `out`; the note goes to *note. */
static int
join(const char *const *index, const char *out, char **note)
{
    struct data_join *list = data_join_new();
    int rc = 0;

    *note = NULL;
    for (; !rc && *index; index++)
        rc = data_join_add(list, *index, NULL, &err);
    if (!rc)
        rc = data_join_write(list, out, note, &err);
    data_join_free(list);
    return rc;
}

/* Indexes each tar by itself, and all as one, "flat.foil"; opens the list of
 * the former. */
static struct data_set *
open_list(const char *const *tar)
{
    char *note;

    for (size_t i = 0; tar[i]; i++) {
        const char *const one[] = {tar[i], NULL};
        char out[32];

        snprintf(out, sizeof out, "%s.foil", tar[i]);
        REQUIRE(!make_index(one, out, 0));
    }
    REQUIRE(!make_index(tar, "flat.foil", 0));
    if (join(tar, "list.foil", &note))
        return NULL;
    free(note);
    return data_open("list.foil", &err);
}

/* Counts the differences of two sets. */
static size_t
differences(struct data_set *a, struct data_set *b)
{
    const struct digest x = data_digest(a), y = data_digest(b);
    struct data_bytes one = {0}, other = {0};
    struct data_facts f, g;
    size_t n = memcmp(&x, &y, sizeof x) != 0;

    n += data_seed(a, 7) != data_seed(b, 7) || data_size(a) != data_size(b) ||
         data_classes(a) != data_classes(b) || data_facts(a, &f, &err) ||
         data_facts(b, &g, &err) || memcmp(&f, &g, sizeof f);
    for (size_t i = 0; !n && i < data_classes(a); i++)
        n += strcmp(data_class_name(a, i), data_class_name(b, i)) != 0;
    for (size_t i = 0; !n && i < data_size(a); i++) {
        uint64_t at, there;
        char *place = data_where(a, i, &at, &err);
        char *its = data_where(b, i, &there, &err);

        n += data_label(a, i) != data_label(b, i) ||
             strcmp(data_name(a, i), data_name(b, i)) ||
             strcmp(data_caption(a, i), data_caption(b, i)) || at != there ||
             strcmp(place, its) || data_read(a, i, &one, &err) ||
             data_read(b, i, &other, &err) || one.len != other.len ||
             memcmp(one.data, other.data, one.len);
        free(place);
        free(its);
    }
    data_bytes_release(&one);
    data_bytes_release(&other);
    return n;
}

static void
classes_are_joined_by_name(void)
{
    const char *const a[] = {"a/1.jpg", "b/2.jpg", "b/2.txt", "two\nzwei",
                             NULL};
    const char *const b[] = {"x/b/1.jpg", "x/c/2.jpg", "x/c/3.jpg", NULL};
    const char *const c[] = {"1.jpg", NULL};
    const char *const tars[] = {"a.tar", "b.tar", "c.tar", NULL};
    const int label[] = {0, 1, 1, 2, 2, -1};
    struct data_set *list, *flat, *again;
    uint8_t keep[6] = {0, 1, 0, 1, 1, 0};
    int64_t *labels;
    size_t right = 0;
    char *note;

    put_tar("a.tar", a);
    put_tar("b.tar", b);
    put_tar("c.tar", c);
    list = open_list(tars);
    flat = data_open("flat.foil", &err);
    T(list && flat && !differences(list, flat),
      "a list of a, b and b, c and none equals the index of all%s%s",
      list ? "" : ": ", list ? "" : err.msg);
    labels = data_labels_of(list);
    for (size_t i = 0; i < 6; i++)
        right += labels[i] == label[i];
    T(right == 6, "each has the label of its class's name");
    T(data_count_common(list, flat) == 6 && !data_stale(list, &err),
      "all samples are shared, and none has changed");
    T(!data_subset(list, keep, 1, "part.foil", &err) &&
          !data_subset(flat, keep, 1, "flat_part.foil", &err),
      "a part of a list is an index");
    again = data_open("part.foil", &err);
    data_close(flat);
    flat = data_open("flat_part.foil", &err);
    T(again && flat && !differences(again, flat) && data_size(again) == 3,
      "a part of a list is that of the index");
    data_close(again);
    data_close(flat);
    data_close(list);
    free(labels);
    REQUIRE(!join((const char *const[]){"list.foil", "a.tar", NULL},
                  "longer.foil", &note));
    list = data_open("longer.foil", &err);
    T(list && data_size(list) == 8 && data_label(list, 7) == 1 && !note,
      "a list can be joined with more");
    data_close(list);
    T(join(tars, "b.tar.foil", &note) && strstr(err.msg, "one of the indexes"),
      "a list replaces none of its indexes: %s", err.msg);
}

static void
numbers_stay_numbers(void)
{
    const char *const a[] = {"1.jpg", "1.cls", "12", "2.jpg",
                             "2.cls", "2",     NULL};
    const char *const b[] = {"1.jpg", "1.cls", "3", NULL};
    const char *const c[] = {"1.jpg", "1.cls", "cat", NULL};
    struct data_set *list, *flat;
    char *note;

    put_tar("a.tar", a);
    put_tar("b.tar", b);
    put_tar("c.tar", c);
    list = open_list((const char *const[]){"a.tar", "b.tar", NULL});
    flat = data_open("flat.foil", &err);
    T(list && flat && !differences(list, flat) && data_classes(list) == 13 &&
          data_label(list, 2) == 3,
      "whole numbers are the labels");
    data_close(list);
    data_close(flat);
    REQUIRE(!make_index((const char *const[]){"c.tar", NULL}, "c.tar.foil", 0));
    T(!join((const char *const[]){"c.tar", "b.tar", NULL}, "list.foil",
            &note) &&
          note && strstr(note, "all are names"),
      "of numbers and names all are names: %s", note ? note : "no note");
    free(note);
    list = data_open("list.foil", &err);
    T(list &&
          !strcmp(data_class_name(list, (size_t)data_label(list, 0)), "cat") &&
          !strcmp(data_class_name(list, (size_t)data_label(list, 1)), "3"),
      "the classes have the right names");
    data_close(list);
}

static void
folders_are_names(void)
{
    const char *const a[] = {"1/1.jpg", "2/2.jpg", NULL};
    const char *const b[] = {"2/1.jpg", "10/2.jpg", NULL};
    struct data_set *list, *flat;

    put_tar("a.tar", a);
    put_tar("b.tar", b);
    list = open_list((const char *const[]){"a.tar", "b.tar", NULL});
    flat = data_open("flat.foil", &err);
    T(list && flat && !differences(list, flat) && data_classes(list) == 3 &&
          data_label(list, 3) == 1,
      "folders of numbers are names, in the order of their bytes");
    data_close(list);
    data_close(flat);
}

static void
name_of(size_t id, char name[24])
{
    snprintf(name, 24, "%zu.jpg", id);
}

/* An index of samples first .. first + n - 1, each four bytes of "x", of class
 * "c0", "c1" or "c2" by number. */
static void
put_index(const char *path, size_t first, size_t n)
{
    struct layout_parts parts = {0};
    struct layout_sample sample = {.bytes = 4, .width = 8, .height = 8};
    char name[24];

    sample.digest = digest_bytes("1234", 4);
    data_layout_text(&parts, "", 0);
    REQUIRE(!data_layout_file(&parts, "x", LAYOUT_TAR, 7, &err));
    parts.sample = mem_array(n, sizeof sample);
    parts.samples = n;
    parts.class = mem_array(3, sizeof *parts.class);
    parts.classes = 3;
    for (size_t i = 0; i < n; i++) {
        name_of(first + i, name);
        sample.name = data_layout_text(&parts, name, strlen(name));
        sample.label = (int32_t)((first + i) % 3);
        parts.sample[i] = sample;
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "c%zu", i);
        parts.class[i] = data_layout_text(&parts, name, strlen(name));
    }
    REQUIRE(!data_layout_write(&parts, path, &err));
    data_layout_release(&parts);
}

/* Index i % 3 has the samples i % 3 .. 2 i % 3: one, two or three. */
static int
is_right(struct data_set *set, size_t id)
{
    const size_t shard = id / 6 * 3 + (id % 6 > 0) + (id % 6 > 2);
    const size_t number = shard % 3 + id - set->shard[shard].first;
    char name[24];

    name_of(number, name);
    return !strcmp(data_name(set, id), name) &&
           data_label(set, id) == (int)(number % 3);
}

/* More shards than may be open, of three indexes in turn. */
static void
shards_are_opened_and_closed(void)
{
    enum { SHARDS = OPEN_SHARDS / 3 * 3 + 900, N = SHARDS * 2 };
    const char *const index[] = {"many/0.foil", "many/1.foil", "many/2.foil"};
    struct data_join *list = data_join_new();
    struct data_set *set;
    struct data_bytes bytes = {0};
    size_t right = 0, read = 0, there = 0;
    char *note;
    const char *kept;

    put_text("x", "1234567");
    REQUIRE(!mkdir("many", 0777));
    for (size_t i = 0; i < 3; i++)
        put_index(index[i], i, 1 + i);
    for (size_t i = 0; i < SHARDS; i++)
        REQUIRE(!data_join_add(list, index[i % 3], NULL, &err));
    REQUIRE(!data_join_write(list, "many.foil", &note, &err));
    data_join_free(list);
    REQUIRE(!rename("many", "moved") && !mkdir("moved/many", 0777));
    set = data_open_parts("many.foil", &err);
    T(set && data_size(set) == N && data_touch(set, 0, &err) &&
          strstr(err.msg, "many/0.foil"),
      "a missing index is named: %s", err.msg);
    REQUIRE(!rmdir("moved/many") && !rename("moved", "many"));
    for (size_t i = 0, id = 0; i < 2 * N; i++, id = (id + 7919) % N) {
        REQUIRE(!data_touch(set, id, &err));
        right += is_right(set, id);
        if (i % 97 == 0)
            read += !data_read(set, id, &bytes, &err) && bytes.len == 4;
    }
    for (size_t i = 0; i < SHARDS; i++)
        there += set->open->set[i] != NULL;
    T(right == 2 * N && read == (2 * N - 1) / 97 + 1 && there == OPEN_SHARDS,
      "all %d samples are right, at random: %zu, %zu read, %zu open", N,
      right / 2, read, there);
    REQUIRE(!data_touch(set, 0, &err));
    kept = data_name(set, 0);
    for (size_t i = 1; i < OPEN_SHARDS; i++)
        REQUIRE(!data_touch(set, set->shard[i].first, &err));
    T(!strcmp(kept, "0.jpg"), "the texts of the last shards stay");
    data_close(set);
    set = data_open("many.foil", &err);
    for (size_t i = right = 0; set && i < N; i++)
        right += is_right(set, N - 1 - i);
    T(right == N, "they are after a whole check, too: %zu", right);
    data_close(set);
    put_index(index[2], 3, 3);
    set = data_open_parts("many.foil", &err);
    T(set && data_touch(set, 3, &err) &&
          strstr(err.msg, "changed since they were joined"),
      "an index that was made again is refused: %s", err.msg);
    T(!data_touch(set, 0, &err), "the others are not");
    data_close(set);
    T(!data_open("many.foil", &err) && strstr(err.msg, "many/2.foil"),
      "data_open() checks all indexes");
    data_bytes_release(&bytes);
}

/* A wrong byte anywhere in a list is found when it is opened. */
static void
damage_is_found(void)
{
    char *note;
    uint8_t *bytes;
    size_t len, opened = 0;

    put_index("a.foil", 0, 3);
    put_index("b.foil", 3, 2);
    REQUIRE(!join((const char *const[]){"a.foil", "b.foil", NULL}, "list.foil",
                  &note));
    bytes = file_read("list.foil", 1 << 20, &len, &err);
    for (size_t at = 0; at < len; at++) {
        struct data_set *set;

        bytes[at] ^= 1;
        REQUIRE(!file_write("bad.foil", bytes, len, &err));
        set = data_open_parts("bad.foil", &err);
        opened += set != NULL;
        data_close(set);
        bytes[at] ^= 1;
    }
    REQUIRE(!file_write("bad.foil", bytes, len - 1, &err));
    T(!opened && !data_open_parts("bad.foil", &err) &&
          strstr(err.msg, "cut off"),
      "a wrong byte of %zu is found: %zu are not", len, opened);
    free(bytes);
}

/* A list of 10^5 indexes that do not exist. */
static void
opens_without_its_indexes(void)
{
    enum { SHARDS = 100000, EACH = 10000 };
    struct layout_shard *shard = mem_array(SHARDS, sizeof *shard);
    const struct data_facts facts = {.bytes = 1};
    struct layout_head head = {.version = LAYOUT_LIST,
                               .files = SHARDS,
                               .samples = (uint64_t)SHARDS * EACH,
                               .text = 6};
    const struct body_table table[BODY_TABLES] = {
        {&facts, sizeof facts},
        {shard, SHARDS * sizeof *shard},
        {NULL, 0},
        {NULL, 0},
        {"\0none", 6}};
    struct data_set *set;
    struct data_facts got;

    for (size_t i = 0; i < SHARDS; i++)
        shard[i] = (struct layout_shard){.first = (uint64_t)i * EACH,
                                         .samples = EACH,
                                         .absolute = 1,
                                         .relative = 1};
    REQUIRE(!data_layout_save(&head, table, "huge.foil", &err));
    set = data_open_parts("huge.foil", &err);
    T(set && data_size(set) == (size_t)1000000000 &&
          !data_facts(set, &got, &err) && got.bytes == 1,
      "a list of 10^9 samples opens by itself");
    T(data_shard(set, 999999999) == SHARDS - 1 && data_shard(set, 10000) == 1 &&
          data_shard(set, 9999) == 0,
      "a sample's shard is found");
    T(data_touch(set, 5, &err) == -1 && strstr(err.msg, "'none'"),
      "a missing shard is reported: %s", err.msg);
    data_close(set);
    shard[9].samples--;
    REQUIRE(!data_layout_save(&head, table, "huge.foil", &err));
    T(!data_open_parts("huge.foil", &err), "wrong sums are refused");
    free(shard);
}

int
main(void)
{
    enter_folder();
    classes_are_joined_by_name();
    numbers_stay_numbers();
    folders_are_names();
    shards_are_opened_and_closed();
    damage_is_found();
    opens_without_its_indexes();
    leave_folder();
    return t_done();
}
