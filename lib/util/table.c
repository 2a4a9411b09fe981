#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistr.h>
#include <uniwidth.h>

#include "util/err.h"
#include "util/mem.h"
#include "util/table.h"

enum { GAP = 2 }; // blanks between two columns

/* Texts by row and column, and properties of the columns. */
struct layout {
    const struct table *table;
    const char **text; // [rows + 1,columns] names of the columns first
    size_t *wide;      // [columns] in columns of a terminal
    char *right;       // [columns] 1: only numbers
};

void
table_row(struct table *table)
{
    table->rows++;
}

static void
make_printable(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127)
            *text = '?';
}

size_t
table_column(struct table *table, const char *name)
{
    size_t i = 0;

    while (i < table->columns && strcmp(table->column[i], name))
        i++;
    if (i == table->columns) {
        mem_grow(&table->column, &table->column_room, i + 1,
                 sizeof *table->column);
        table->column[table->columns] = mem_text(name);
        make_printable(table->column[table->columns++]);
    }
    return i;
}

void
table_put(struct table *table, const char *column, const char *fmt, ...)
{
    va_list ap;
    char *text;

    REQUIRE(table->rows);
    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    make_printable(text);
    mem_grow(&table->cell, &table->cell_room, table->cells + 1,
             sizeof *table->cell);
    table->cell[table->cells++] =
        (struct table_cell){table->rows - 1, table_column(table, column), text};
}

/* Returns the columns of n bytes: two for a Chinese character, none for an
 * accent. */
static size_t
count_columns(const char *text, size_t n)
{
    return (size_t)u8_width((const uint8_t *)text, n, "UTF-8");
}

static int
is_number(const char *text)
{
    char *end;

    (void)strtod(text, &end);
    return !*text || !strcmp(text, "-") ||
           (end != text && (!*end || !strcmp(end, "%")));
}

static struct layout
lay_out(const struct table *table)
{
    const size_t columns = table->columns;
    struct layout lay = {
        table, mem_array((table->rows + 1) * columns, sizeof(char *)),
        mem_array(columns, sizeof *lay.wide), mem_array(columns, 1)};

    for (size_t i = 0; i < (table->rows + 1) * columns; i++)
        lay.text[i] = "";
    for (size_t j = 0; j < columns; j++) {
        lay.text[j] = table->column[j];
        lay.wide[j] = count_columns(table->column[j], strlen(table->column[j]));
        lay.right[j] = 1;
    }
    for (size_t i = 0; i < table->cells; i++) {
        const struct table_cell *cell = table->cell + i;
        const size_t n = count_columns(cell->text, strlen(cell->text)),
                     j = cell->column;

        lay.text[(cell->row + 1) * columns + j] = cell->text;
        lay.wide[j] = n > lay.wide[j] ? n : lay.wide[j];
        lay.right[j] &= (char)is_number(cell->text);
    }
    return lay;
}

/* Writes the characters of a text that fit, padded to the width. */
static void
write_cell(FILE *line, const char *text, size_t wide, int right)
{
    const char *end = text;
    size_t at = 0;
    int pad;

    for (int n; *end; end += n) {
        size_t more;

        n = u8_strmblen((const uint8_t *)end);
        n = n > 0 ? n : 1; // an invalid byte
        more = count_columns(end, (size_t)n);
        if (at + more > wide)
            break;
        at += more;
    }
    pad = (int)(wide - at);
    fprintf(line, "%*s%.*s%*s", right ? pad : 0, "", (int)(end - text), text,
            right ? 0 : pad, "");
}

static void
write_row(const struct layout *lay, size_t row, size_t keys, size_t first,
          size_t last, size_t width, FILE *line)
{
    const size_t columns = lay->table->columns;
    size_t at = 0;

    for (size_t j = keys ? 0 : first; j < last && at < width;
         j = j + 1 == keys ? first : j + 1) {
        const size_t gap = at && at + GAP < width ? GAP : 0;
        const size_t room = width - at - gap;
        const size_t wide = lay->wide[j] < room ? lay->wide[j] : room;

        fprintf(line, "%*s", (int)gap, "");
        write_cell(line, lay->text[row * columns + j], wide, lay->right[j]);
        at += gap + wide;
    }
}

/* Prints the key columns and those from first up to last. */
static void
print_block(const struct layout *lay, size_t keys, size_t first, size_t last,
            size_t width, FILE *out)
{
    for (size_t row = 0; row <= lay->table->rows; row++) {
        char *text = NULL;
        size_t n = 0;
        FILE *line = open_memstream(&text, &n);

        REQUIRE(line);
        write_row(lay, row, keys, first, last, width, line);
        fclose(line);
        while (n && text[n - 1] == ' ')
            n--;
        fprintf(out, "%.*s\n", (int)n, text);
        free(text);
    }
}

void
table_print(const struct table *table, size_t keys, int width, FILE *out)
{
    const size_t most = width > 0 ? (size_t)width : SIZE_MAX / 2;
    size_t lead = 0, first = keys, last;
    struct layout lay;

    REQUIRE(keys <= table->columns);
    if (!table->columns)
        return;
    lay = lay_out(table);
    // the repeated columns leave half of the width to the others
    for (size_t j = 0; j < keys; j++) {
        if (keys < table->columns && lay.wide[j] > most / (2 * keys) + 1)
            lay.wide[j] = most / (2 * keys) + 1;
        lead += lay.wide[j] + GAP;
    }
    do {
        size_t at = lead;

        for (last = first; last < table->columns &&
                           (last == first || at + lay.wide[last] <= most);
             last++)
            at += lay.wide[last] + GAP;
        if (first > keys)
            putc('\n', out);
        print_block(&lay, keys, first, last, most, out);
        first = last;
    } while (first < table->columns);
    mem_free(lay.text, lay.wide, lay.right);
}

void
table_release(struct table *table)
{
    for (size_t j = 0; j < table->columns; j++)
        free(table->column[j]);
    for (size_t i = 0; i < table->cells; i++)
        free(table->cell[i].text);
    mem_free(table->column, table->cell);
    *table = (struct table){0};
}
