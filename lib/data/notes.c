#include <stdlib.h>

#include "util/mem.h"

#include "notes.h"

void
data_notes_add(struct data_notes *notes, char *text)
{
    mem_grow(&notes->text, &notes->room, notes->n + 1, sizeof *notes->text);
    notes->text[notes->n++] = text;
}

void
data_notes_release(struct data_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->text[i]);
    free(notes->text);
    *notes = (struct data_notes){0};
}
