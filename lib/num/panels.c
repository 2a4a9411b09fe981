#include <string.h>

#include "util/clones.h"

#include "panels.h"
#include "whole.h"

enum { SQUARE = 16 };

UTIL_CLONES(void, num_panels_down,
            (size_t k, size_t columns, size_t row, const float *x, size_t from,
             size_t below, float *to),
            (k, columns, row, x, from, below, to))
{
    for (size_t i = from; i < below; i++) {
        const float *own = x + i * row;
        float *at = to + i * NUM_PANEL;
        size_t j = 0;

        for (; j + NUM_PANEL <= columns; j += NUM_PANEL, at += k * NUM_PANEL)
            memcpy(at, own + j, NUM_PANEL * sizeof *at);
        for (size_t c = 0; j < columns && c < NUM_PANEL; c++)
            at[c] = j + c < columns ? own[j + c] : 0;
    }
}

/* Squares of SQUARE columns and numbers are turned. */
UTIL_CLONES(void, num_panel_across,
            (size_t k, size_t columns, size_t row, const float *x, size_t panel,
             float *to),
            (k, columns, row, x, panel, to))
{
    const size_t from = panel * NUM_PANEL;
    const size_t wide = num_least(columns - from, NUM_PANEL);

    to += panel * k * NUM_PANEL;
    for (size_t j = 0; j < NUM_PANEL; j += SQUARE)
        for (size_t at = 0; at < k; at += SQUARE) {
            const size_t n = num_least(k - at, SQUARE);

            for (size_t c = j; c < j + SQUARE; c++) {
                float own[SQUARE] = {0};

                if (c < wide)
                    memcpy(own, x + (from + c) * row + at, n * sizeof *own);
                for (size_t i = 0; i < n; i++)
                    to[(at + i) * NUM_PANEL + c] = own[i];
            }
        }
}
