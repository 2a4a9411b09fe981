#ifndef SAMPLE_LAYOUT_H
#define SAMPLE_LAYOUT_H

#include "sample/memory.h"

/*
 * How a memory is laid out in tables of bytes (sample/memory.h): rows as they
 * stand there.  The numbers of an update follow its row.
 */
struct sample_chain_row {
    int64_t id_1;
    int32_t view_1;
    union {
        uint32_t epoch;
        float score; /* where these are kept */
    };
};

struct sample_update_row {
    int64_t step_1, id;
    int32_t view, views;
};

/* The tables, in the order in which they are listed. */
enum { SAMPLE_CHAIN, SAMPLE_BANK, SAMPLE_BETA };
extern const char *const sample_table_names[SAMPLE_MEMORY_TABLES];

/* sample_table_is() returns 1 when such a memory has that table. */
int sample_table_is(const struct sample_memory_form *form, size_t table);

#endif
