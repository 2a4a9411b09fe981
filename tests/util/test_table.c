/* Tables for people to read. */
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "util/table.h"

/* Returns the text of a table. */
static char *
printed(const struct table *table, size_t keys, int width)
{
    static char *text;
    size_t len;
    FILE *out;

    free(text);
    out = open_memstream(&text, &len);
    table_print(table, keys, width, out);
    fclose(out);
    return text;
}

static struct table
two_runs(void)
{
    struct table table = {0};

    table_row(&table);
    table_put(&table, "run", "a");
    table_put(&table, "steps", "7");
    table_put(&table, "loss", "4.5000");
    table_row(&table);
    table_put(&table, "run", "longer");
    table_put(&table, "steps", "1200");
    table_put(&table, "tau", "0.1");
    return table;
}

static void
columns_are_aligned(void)
{
    struct table table = two_runs();

    T(!strcmp(printed(&table, 1, 0), "run     steps    loss  tau\n"
                                     "a           7  4.5000\n"
                                     "longer   1200          0.1\n"),
      "numbers to the right, texts to the left, gaps stay empty");
    T(strlen(printed(&table, 1, 26)) == 76 &&
          strlen(printed(&table, 1, 0)) == 76,
      "a width that is just enough changes nothing");
    table_release(&table);
}

static void
wide_columns_go_below(void)
{
    struct table table = two_runs();

    T(!strcmp(printed(&table, 1, 21), "run     steps    loss\n"
                                      "a           7  4.5000\n"
                                      "longer   1200\n"
                                      "\n"
                                      "run     tau\n"
                                      "a\n"
                                      "longer  0.1\n"),
      "with the key column again");
    for (int width = 1; width < 40; width++) {
        const char *at = printed(&table, 1, width);
        size_t most = 0;

        for (; *at; at += strcspn(at, "\n") + 1)
            most = strcspn(at, "\n") > most ? strcspn(at, "\n") : most;
        if (most > (size_t)width)
            T(0, "a line of %zu at width %d", most, width);
    }
    T(1, "no line is wider than asked for, from 1 to 39");
    table_release(&table);
}

static void
texts_are_as_wide_as_they_look(void)
{
    struct table table = {0};

    table_row(&table);
    table_put(&table, "name", "Käse");
    table_put(&table, "x", "1");
    table_row(&table);
    table_put(&table, "name", "\033[2J");
    table_put(&table, "x", "2");
    T(!strcmp(printed(&table, 1, 0), "name  x\nKäse  1\n?[2J  2\n"),
      "columns are aligned, and no text moves the cursor");
    T(!strncmp(printed(&table, 2, 3), "nam\nKäs\n?[2\n", 12),
      "a character is not cut: %s", printed(&table, 2, 3));
    table_release(&table);
    table_row(&table);
    table_put(&table, "name", "猫の絵");
    table_put(&table, "x", "1");
    table_row(&table);
    table_put(&table, "name", "e\u0301te\u0301");
    table_put(&table, "x", "2");
    T(!strcmp(printed(&table, 1, 0),
              "name    x\n猫の絵  1\ne\u0301te\u0301     2\n"),
      "a Chinese character is two columns wide, an accent none: %s",
      printed(&table, 1, 0));
    T(!strncmp(printed(&table, 2, 3), "nam\n猫\ne\u0301te\u0301\n", 15),
      "a wide character is not cut: %s", printed(&table, 2, 3));
    table_release(&table);
    T(!*printed(&table, 0, 80), "an empty table prints nothing");
    table_release(&table);
}

int
main(void)
{
    columns_are_aligned();
    wide_columns_go_below();
    texts_are_as_wide_as_they_look();
    return t_done();
}
