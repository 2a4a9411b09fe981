#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/cells.h"
#include "t.h"
#include "util/mem.h"

static struct err err;

/* Returns a table as text: cells with | between, a record a line. */
static char *
read_all(const char *path, const char *text)
{
    struct data_cells cells;
    char *copy = mem_text(text), *all = mem_text(""), *more;

    data_cells_init(&cells, path, copy, strlen(text));
    while (data_cells_next(&cells, &err))
        for (size_t i = 0; i < cells.n; i++) {
            more = mem_format("%s%s%s", all, cells.cell[i].text,
                              i + 1 < cells.n ? "|" : "\n");
            free(all);
            all = more;
        }
    data_cells_release(&cells);
    free(copy);
    return all;
}

static void
reads(const char *path, const char *text, const char *want, const char *what)
{
    char *got = read_all(path, text);

    T(!strcmp(got, want), "%s", what);
    if (strcmp(got, want))
        printf("# got %s\n", got);
    free(got);
}

static void
tabs(void)
{
    reads("x.txt", "", "", "nothing");
    reads("x.txt", "a.jpg\tcat\nb c.jpg\tdog\tA dog, asleep\n",
          "a.jpg|cat\nb c.jpg|dog|A dog, asleep\n",
          "tabs are between cells, blanks and commas within");
    reads("x.tsv", "a\t\tb", "a||b\n",
          "a cell may be empty, a line end missing");
    reads("x.txt",
          "\xef\xbb\xbf"
          "a\r\n\r\n\nb\tc\r\n",
          "a\nb|c\n", "byte order mark, CR LF and empty lines are removed");
    reads("x.txt", "\"a\"\tb\n", "\"a\"|b\n", "quotes are ordinary characters");
}

/* Only lists have comments, from the start of a line. */
static void
comments(void)
{
    char text[] = "# say \"it\n#\na#b,1\n  #c,2\n#last";
    struct data_cells cells;

    reads("x.txt", "#a\tb\n", "#a|b\n", "by default there are no comments");
    data_cells_init(&cells, "x.csv", text, strlen(text));
    cells.comments = 1;
    T(data_cells_next(&cells, &err) && !strcmp(cells.cell[0].text, "a#b"),
      "with comments, lines that begin with # are skipped");
    T(cells.line == 3, "skipped lines are counted");
    T(data_cells_next(&cells, &err) && !strcmp(cells.cell[0].text, "  #c"),
      "a # after a blank begins no comment");
    T(!data_cells_next(&cells, &err),
      "the last line may be one, without an end");
    data_cells_release(&cells);
}

static void
commas(void)
{
    reads("x.csv", "a.jpg,cat\nb\tc.jpg,dog\n", "a.jpg|cat\nb\tc.jpg|dog\n",
          "commas are between the cells of a .csv");
    reads("x.CSV", "\"a,b\",\"say \"\"hi\"\"\",c\r\nd,,\n",
          "a,b|say \"hi\"|c\nd||\n",
          "quoted cells may have commas and doubled quotes");
    reads("x.csv", "\"two\nlines\",b\nc\n", "two\nlines|b\nc\n",
          "quoted cells may have line ends");
    reads("x.csv", "\"a\" ,c", "a|c\n", "blanks may follow quotes");
    reads("x.csv", "\"\"", "", "a record of an empty cell is none");
}

static void
lines(void)
{
    char text[] = "a,\"b\nc\"\n\nd,e\n";
    struct data_cells cells;
    size_t line[2] = {0};

    data_cells_init(&cells, "x.csv", text, strlen(text));
    for (int i = 0; i < 2 && data_cells_next(&cells, &err); i++)
        line[i] = cells.line;
    T(line[0] == 1 && line[1] == 4, "records have line numbers: %zu, %zu",
      line[0], line[1]);
    data_cells_release(&cells);
}

static void
refuses(const char *text, size_t len, const char *want, const char *what)
{
    struct data_cells cells;
    char *copy = mem_array(len + 1, 1);
    int rc;

    memcpy(copy, text, len);
    data_cells_init(&cells, "x.csv", copy, len);
    while ((rc = data_cells_next(&cells, &err)) > 0)
        continue;
    T(rc == -1 && strstr(err.msg, want), "%s: %s", what, rc ? err.msg : "");
    data_cells_release(&cells);
    free(copy);
}

/* Ambiguous quotes are errors. */
static void
unclear_quotes(void)
{
    const char open[] = "a,b\nc,\"d\ne,f\n", after_quote[] = "a,\"b\nc,\"d\"\n",
               zero[] = "a,b\nc,d\0e\n";

    refuses(open, sizeof open - 1, "line 2 of 'x.csv' has quotes",
            "quotes that are not closed");
    refuses(after_quote, sizeof after_quote - 1, "line 1 of 'x.csv' has quotes",
            "text after the closing quote");
    refuses(zero, sizeof zero - 1, "line 2 of 'x.csv' has a zero byte",
            "a zero byte");
}

int
main(void)
{
    tabs();
    comments();
    commas();
    lines();
    unclear_quotes();
    return t_done();
}
