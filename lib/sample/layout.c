#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "layout.h"

/* ---- what a step writes ------------------------------------------------- */

void
sample_written_release(struct sample_written *written)
{
    free(written->at);
    free(written->row);
    *written = (struct sample_written){0};
}

/* Room for one row more, whose place is at. */
static uint8_t *
add(struct sample_written *to, size_t at, size_t width)
{
    const size_t n = to->n++;

    mem_grow(&to->at, &to->at_room, n + 1, sizeof *to->at);
    mem_grow(&to->row, &to->row_room, (n + 1) * width, 1);
    to->at[n] = (int64_t)at;
    return to->row + n * width;
}

void
sample_written_chain(struct sample_written *to, size_t at,
                     struct sample_state state, const float *score)
{
    struct sample_chain_row row = {state.id + 1,
                                   (int32_t)state.view + 1,
                                   {.epoch = (uint32_t)state.epoch}};

    if (score)
        row.score = *score;
    memcpy(add(to, at, sizeof row), &row, sizeof row);
}

static size_t
update_width(size_t dim)
{
    return sizeof(struct sample_update_row) + dim * sizeof(float);
}

void
sample_written_update(struct sample_written *to, const struct sample_bank *bank,
                      size_t i)
{
    const int64_t views = (int64_t)bank->views, at = bank->queue[i].row;
    const struct sample_shown shown = bank->queue[i].shown;
    const struct sample_update_row row = {
        bank->queue[i].when + 1, at / views,
        views > 1 ? (int32_t)(at % views)
                  : SAMPLE_SHOWN_VIEWS * shown.epoch + shown.view,
        (int32_t)views};
    uint8_t *bytes =
        add(to, (size_t)bank->queue[i].slot, update_width(bank->dim));

    memcpy(bytes, &row, sizeof row);
    memcpy(bytes + sizeof row, bank->queue_z + i * bank->dim,
           bank->dim * sizeof *bank->queue_z);
}

void
sample_written_beta(struct sample_written *to, size_t at, int64_t step,
                    double beta)
{
    const struct sample_beta_row row = {step + 1, beta};

    memcpy(add(to, at, sizeof row), &row, sizeof row);
}

/* ---- tables -------------------------------------------------------------- */

const char *const sample_table_names[SAMPLE_MEMORY_TABLES] = {"chain", "bank",
                                                              "beta"};

int
sample_table_is(const struct sample_memory_form *form, size_t table)
{
    return table == SAMPLE_CHAIN ? form->chains : form->horizon > 0;
}

size_t
sample_memory_rows(const struct sample_memory *memory,
                   struct sample_rows rows[SAMPLE_MEMORY_TABLES])
{
    const struct sample_chains *chains = &memory->chains;
    const struct sample_bank *bank = &memory->bank;
    const struct {
        size_t rows, width;
        const struct sample_written *written;
    } all[SAMPLE_MEMORY_TABLES] = {
        {chains->size * chains->views, sizeof(struct sample_chain_row),
         &memory->chain_rows},
        {bank->slots, update_width(bank->dim), &memory->bank_rows},
        {memory->form.horizon, sizeof(struct sample_beta_row),
         &memory->beta_rows},
    };
    size_t n = 0;

    for (size_t i = 0; i < SAMPLE_MEMORY_TABLES; i++) {
        if (!sample_table_is(&memory->form, i))
            continue;
        rows[n] = (struct sample_rows){.name = sample_table_names[i],
                                       .rows = all[i].rows,
                                       .width = all[i].width,
                                       .n = all[i].written->n,
                                       .at = all[i].written->at,
                                       .row = all[i].written->row};
        n++;
    }
    return n;
}
