#pragma once

/*
 * A valid struct of any kind, made from the table of its message: with all
 * fields, or only with the required ones.  Sizes are small and differ from each
 * other.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/weights.h"
#include "wire/events.h"
#include "wire/message.h"

/* Structs and their arrays, until the next example_start(). */
static struct {
    size_t used;
    _Alignas(16) uint8_t bytes[1 << 20];
} example_room;

static inline void
example_start(void)
{
    memset(&example_room, 0, sizeof example_room);
}

static inline void *
example_take(size_t bytes)
{
    void *at = example_room.bytes + example_room.used;

    example_room.used += (bytes + 15) / 16 * 16;
    REQUIRE(example_room.used <= sizeof example_room.bytes);
    return at;
}

/* Elements of a tensor: in its range, all different for ids, and in rows that
 * sum to 1 for reals. */
static inline void *
example_elements(const struct wire_field *f, const struct wire_tensor *t)
{
    void *data = example_take(t->count * dtype_about(t->dtype)->bytes + 1);
    const size_t last = t->rank ? t->shape[t->rank - 1] : 1;

    for (size_t i = 0; i < t->count; i++)
        if (t->dtype == DTYPE_F4)
            ((float *)data)[i] = 1 / (float)last;
        else if (t->dtype == DTYPE_I8)
            ((int64_t *)data)[i] =
                f->below ? (int64_t)i % 2 : f->least + (int64_t)i;
        else if (t->dtype == DTYPE_I4)
            ((int32_t *)data)[i] =
                f->below ? (int32_t)i % 2 : (int32_t)(f->least + (int64_t)i);
        else
            ((uint8_t *)data)[i] = (uint8_t)(7 * i);
    return data;
}

static inline void
example_array(const struct wire_message *m, const struct wire_field *f, char *x)
{
    struct wire_tensor t = {.dtype = f->dtype, .count = 1};
    void *data;

    for (const char *c = f->shape; *c; c++) {
        t.shape[t.rank] = *c > '9' ? *(size_t *)(x + wire_size_find(m, *c)->at)
                                   : (size_t)(*c - '0');
        t.count *= t.shape[t.rank++];
    }
    data = example_elements(f, &t);
    memcpy(x + f->at, &data, sizeof data);
}

static inline void
example_list(const struct wire_field *f, char *x)
{
    static const int64_t places[] = {1, 0};
    struct value *value = (void *)(x + f->at);
    struct table_rows *table;
    int64_t *couple;
    void *list = NULL;

    if (f->type == WIRE_VALUES) {
        value[0] = (struct value){"loss", 4.5, 0};
        value[1] = (struct value){"rate", -0.125, 0};
    } else if (f->type == WIRE_COUPLES) {
        list = couple = example_take(4 * sizeof *couple);
        memcpy(couple, (int64_t[]){0, 1, 1, 0}, 4 * sizeof *couple);
    } else {
        list = table = example_take(2 * sizeof *table);
        table[0] = (struct table_rows){.name = "a",
                                       .rows = 30,
                                       .width = 3,
                                       .n = 2,
                                       .row = (void *)"abcdef"};
        table[1] = (struct table_rows){.name = "b", .rows = 1, .width = 8};
        if (f->placed)
            table[0].at = places;
    }
    if (list)
        memcpy(x + f->at, &list, sizeof list);
    *(size_t *)(x + f->count) = 2;
}

/* Later numbers are larger, so that one that has to be above another is. */
static inline void
example_field(const struct wire_message *m, const struct wire_field *f,
              size_t row, char *x, int full)
{
    const int64_t number = f->greatest - f->least > 10 + (int64_t)row
                               ? f->least + 10 + (int64_t)row
                               : f->greatest;
    const int there = full || !f->optional;

    if (f->type == WIRE_WHOLE)
        *(int64_t *)(x + f->at) =
            there && (full || !f->with) ? number : f->missing;
    else if (f->type == WIRE_COUNT && !*(size_t *)(x + f->at))
        *(size_t *)(x + f->at) = (size_t)number; // not the size of a tensor
    else if (f->type == WIRE_REAL)
        *(double *)(x + f->at) =
            there ? f->low + (f->high - f->low) / 4 : (double)f->missing;
    else if (f->type == WIRE_TEXT && !f->words && there)
        snprintf(x + f->at, f->room, "0123456789abcdef0123456789abcdef");
    else if (f->words && there)
        snprintf(x + f->at, f->room, "%.*s", (int)strcspn(f->words, ","),
                 f->words);
    else if (f->type == WIRE_SHARE && there)
        memcpy(x + f->at, (int64_t[]){3, 4}, 2 * sizeof(int64_t));
    else if (f->type == WIRE_FLAG)
        *(int *)(x + f->at) = there;
    else if (f->shape && there)
        example_array(m, f, x);
    else if (f->count && there)
        example_list(f, x);
}

/* The struct lasts until the next example_start(). */
static inline void *
example_make(enum wire_kind kind, int full)
{
    const struct wire_message *m = &wire_messages[kind];
    const struct wire_field *f;
    const struct wire_size *size;
    char *x = example_take(m->bytes + 1);

    for (size = m->sizes; size->name; size++)
        *(size_t *)(x + size->at) =
            2 + (size_t)(wire_size_find(m, size->name) - m->sizes);
    for (f = m->fields; f->name; f++)
        example_field(m, f, (size_t)(f - m->fields), x, full);
    return x;
}
