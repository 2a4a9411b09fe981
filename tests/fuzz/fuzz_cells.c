/* Records of a table: cells lie in the text, end where they say, and lines
 * rise, whatever the text is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/cells.h"
#include "util/err.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What the columns may be, and their names. */
static void
look(const struct data_cells *cells)
{
    const struct data_columns nothing = {0};
    size_t at[DATA_COLUMNS] = {0, 1, 2};
    struct data_notes notes = {0};
    struct err err;

    data_columns_find(&nothing, cells, DATA_COLUMN_NAME, at, &err);
    data_columns_unused(cells, at, &notes);
    data_notes_release(&notes);
    data_columns_refuse(cells, "file", &err);
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
        look(&cells);
    }
    data_cells_release(&cells);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    read_all("x.csv", data, len);
    read_all("x.tsv", data, len);
    return 0;
}
