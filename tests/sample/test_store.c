#include <stdio.h>
#include <string.h>

#include "sample/store.h"
#include "t.h"

enum { ROWS = 5, WIDTH = 3 };

/* Two tables, of which a step changes rows 4 and 1 of the first. */
static const int64_t at[] = {4, 1};
static const uint8_t row[] = "abcdef";
static const struct table_rows step[2] = {
    {.name = "chain",
     .rows = ROWS,
     .width = WIDTH,
     .n = 2,
     .at = at,
     .row = row},
    {.name = "bank", .rows = 1, .width = 8},
};

static void
rows_are_kept(void)
{
    static const uint8_t want[ROWS * WIDTH] = {0, 0, 0, 'd', 'e', 'f', 0,  0,
                                               0, 0, 0, 0,   'a', 'b', 'c'};
    static const int64_t twice[] = {2, 2};
    struct table_rows next[2] = {step[0], step[1]};
    const struct sample_table *table;
    struct sample_store store;
    struct err err = {""};

    sample_store_init(&store);
    T(!sample_store_check(&store, 2, step, &err), "judged %s", err.msg);
    sample_store_write(&store, "emc2 1", 2, step);
    table = sample_store_find(&store, "chain");
    T(!strcmp(store.sampler, "emc2 1") && store.n == 2,
      "the first step makes the tables, and says whose they are");
    T(table && !memcmp(table->bytes, want, sizeof want),
      "its rows are in their places, all others are zeros");
    T(!sample_store_find(&store, "chai"), "no other table is there");
    next[0].at = twice;
    next[0].rows = ROWS + 2;
    sample_store_write(&store, "other", 2, next);
    table = sample_store_find(&store, "chain");
    T(!memcmp(table->bytes + 2 * WIDTH, row + 3, 3),
      "of a row that is there twice the later counts");
    T(table->rows == ROWS + 2 && !memcmp(table->bytes + 12, want + 12, 3) &&
          !table->bytes[ROWS * WIDTH] && !table->bytes[7 * WIDTH - 1],
      "rows that a table gets later are zeros, too");
    T(!strcmp(store.sampler, "emc2 1"), "they stay whose they are");
    T(!sample_store_check(&store, 0, NULL, &err), "a step may change nothing");
    sample_store_write(&store, "", 0, NULL);
    T(store.n == 2, "a step without tables changes nothing");
    sample_store_release(&store);
    sample_store_release(&store);
}

/* Judges a change of the second table, or more tables, against a store. */
static void
refuses(const char *what, const char *part, const struct sample_store *store,
        size_t n, struct table_rows second)
{
    const struct table_rows rows[] = {step[0], second, step[1]};
    struct err err = {""};

    T(sample_store_check(store, n, rows, &err) && strstr(err.msg, part),
      "%s: %s", what, err.msg);
}

static void
other_names_are_refused(void)
{
    static char name[TABLE_NAME_MAX + 1];
    struct table_rows x = step[1];
    struct sample_store empty, store;
    struct err err = {""};

    sample_store_init(&empty);
    sample_store_init(&store);
    sample_store_write(&store, "", 2, step);

    refuses("two of one name", "twice", &empty, 2, step[0]);
    x.name = "";
    refuses("no name", "0 bytes", &empty, 2, x);
    memset(name, 'x', TABLE_NAME_MAX);
    x.name = name;
    refuses("a long name", "60 bytes", &empty, 2, x);
    x.name = name + 1;
    T(!sample_store_check(&empty, 1, &x, &err), "the longest is fine");
    refuses("another name than before", "where 'bank' was", &store, 2, x);
    sample_store_release(&store);
}

static void
other_tables_than_before_are_refused(void)
{
    struct table_rows x = step[1];
    struct sample_store store;
    struct err err = {""};

    sample_store_init(&store);
    sample_store_write(&store, "", 2, step);
    x.width = 9;
    refuses("another width", "1 x 9 bytes, and was 1 x 8", &store, 2, x);
    refuses("a table more", "3 tables, and 2 before", &store, 3, x);
    refuses("a table less", "1 tables, and 2 before", &store, 1, x);
    x = step[0];
    x.rows--;
    T(sample_store_check(&store, 2, (struct table_rows[]){x, step[1]}, &err) &&
          strstr(err.msg, "may only get more rows"),
      "fewer rows: %s", err.msg);
    sample_store_release(&store);
}

static void
tables_of_no_or_too_large_a_size_are_refused(void)
{
    struct table_rows x = step[1];
    struct sample_store empty;
    struct err err = {""};

    sample_store_init(&empty);
    x.rows = (SAMPLE_STORE_MOST - ROWS * WIDTH) / 8;
    T(!sample_store_check(&empty, 2, (struct table_rows[]){step[0], x}, &err),
      "as many bytes as may be");
    x.rows++;
    refuses("one row more", "at most 8 GiB", &empty, 2, x);
    empty.most = SAMPLE_STORE_MOST + 8;
    T(!sample_store_check(&empty, 2, (struct table_rows[]){step[0], x}, &err),
      "that is taken by a larger store");
    sample_store_release(&empty);
    T(empty.most == SAMPLE_STORE_MOST + 8, "a released store keeps its limit");
    empty.most = 0;
    x.rows = SIZE_MAX;
    refuses("more than can be counted", "at most 8 GiB", &empty, 2, x);
    x.rows = 0;
    refuses("no row", "0 x 8", &empty, 2, x);
    x.rows = 1;
    x.width = 0;
    refuses("no width", "1 x 0", &empty, 2, x);
    x.width = TABLE_WIDTH_MAX + 1;
    refuses("rows that are too wide", "rows of 1 .. 16777216", &empty, 2, x);
}

static void
too_many_tables_are_refused(void)
{
    static char names[TABLES_MAX + 1][16];
    struct table_rows many[TABLES_MAX + 1];
    struct sample_store empty;
    struct err err = {""};

    sample_store_init(&empty);
    for (int i = 0; i <= TABLES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        many[i] = step[1];
        many[i].name = names[i];
    }
    T(!sample_store_check(&empty, TABLES_MAX, many, &err) &&
          sample_store_check(&empty, TABLES_MAX + 1, many, &err),
      "too many tables: %s", err.msg);
}

/* Writes a store into another one, piece by piece; returns how many. */
static int
hand_over(const struct sample_store *from, struct sample_store *to)
{
    struct sample_piece piece = {.n = 0};
    int pieces = 0, more;

    do {
        struct table_rows rows[TABLES_MAX];

        more = sample_store_next(from, &piece);
        pieces++;
        sample_store_piece(from, &piece, rows);
        if (from->n)
            REQUIRE(piece.n == 1 ||
                    piece.n * rows[piece.table].width <= TABLE_PIECE_MAX);
        sample_store_write(to, from->sampler, from->n, rows);
    } while (more);
    return pieces;
}

static void
in_pieces(void)
{
    enum { WIDE = TABLE_PIECE_MAX / 2 - 1 };
    static uint8_t wide[5 * WIDE];
    const struct table_rows rows[] = {
        step[0],
        {.name = "wide", .rows = 5, .width = WIDE, .n = 5, .row = wide},
        step[1]};
    struct sample_store from, to;
    int same = 1;

    sample_store_init(&from);
    sample_store_init(&to);
    T(hand_over(&from, &to) == 1 && !to.n, "no tables are one piece");
    for (size_t i = 0; i < sizeof wide; i++)
        wide[i] = (uint8_t)(i * 2654435761u >> 24);
    sample_store_write(&from, "x", 3, rows);
    T(hand_over(&from, &to) == 5, "five rows of half a piece are three");
    for (size_t i = 0; i < 3; i++)
        same &= to.table[i].rows == from.table[i].rows &&
                !memcmp(to.table[i].bytes, from.table[i].bytes,
                        to.table[i].rows * to.table[i].width);
    T(same && to.n == 3, "all rows arrive");
    sample_store_release(&from);
    sample_store_release(&to);
}

int
main(void)
{
    rows_are_kept();
    other_names_are_refused();
    other_tables_than_before_are_refused();
    tables_of_no_or_too_large_a_size_are_refused();
    too_many_tables_are_refused();
    in_pieces();
    return t_done();
}
