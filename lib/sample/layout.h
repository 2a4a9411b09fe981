#ifndef SAMPLE_LAYOUT_H
#define SAMPLE_LAYOUT_H

#include "sample/memory.h"

/*
 * The rows of the tables that store a memory (sample/memory.h).  The numbers of
 * an update follow its row.
 */
struct sample_chain_row {
    int64_t id_1;
    int32_t view_1;
    union {
        uint32_t epoch;
        float score; /* with form.scores */
    };
};

struct sample_update_row {
    int64_t step_1, id;
    int32_t view, views;
};

/* The tables, in their order. */
enum { SAMPLE_CHAIN, SAMPLE_BANK, SAMPLE_BETA };
extern const char *const sample_table_names[SAMPLE_MEMORY_TABLES];

/* sample_has_table() returns 1 if a memory of this form has that table. */
int sample_has_table(const struct sample_memory_form *form, size_t table);

#endif
