/* Records of a table: cells lie in the text, end where they say, and lines
 * rise, whatever the text is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/cells.h"
#include "util/err.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int
names_none(void *of, const struct data_cells *cells)
{
    (void)of;
    return !cells->n;
}

/* What the columns may be, and their names. */
static void
read_rows(const char *path, const uint8_t *data, size_t len)
{
    const struct data_columns nothing = {0};
    struct data_notes notes = {0};
    struct data_rows rows = {.columns = &nothing,
                             .notes = &notes,
                             .what = "file",
                             .names = names_none,
                             .at = {0, 1, 2}};
    char *text = mem_array(len + 1, 1);
    struct err err;

    if (len)
        memcpy(text, data, len);
    data_cells_init(&rows.cells, path, text, len);
    while (data_rows_next(&rows, &err) > 0)
        for (size_t c = 0; c < DATA_COLUMNS; c++)
            data_cells_get(&rows.cells, rows.at[c]);
    data_cells_release(&rows.cells);
    data_notes_release(&notes);
    free(text);
}

static void
read_all(const char *path, const uint8_t *data, size_t len)
{
    char *text = mem_array(len + 1, 1);
    struct data_cells cells;
    size_t line = 0, records = 0;
    struct err err;

    if (len)
        memcpy(text, data, len);
    data_cells_init(&cells, path, text, len);
    while (data_cells_next(&cells, &err) > 0) {
        REQUIRE(cells.line > line && ++records <= len);
        line = cells.line;
        for (size_t i = 0; i < cells.n; i++) {
            const struct data_cell *cell = &cells.cell[i];

            REQUIRE(cell->text >= text &&
                    cell->text + cell->len <= text + len &&
                    !cell->text[cell->len]);
        }
    }
    data_cells_release(&cells);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    read_all("x.csv", data, len);
    read_all("x.tsv", data, len);
    read_rows("x.csv", data, len);
    read_rows("x.tsv", data, len);
    return 0;
}
