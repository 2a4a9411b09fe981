#ifndef DATA_NOTES_H
#define DATA_NOTES_H

#include <stddef.h>

/* Sentences about what was noticed, to be said when all is done. */
struct data_notes {
    char **text; /* [n] */
    size_t n, room;
};

/* data_notes_add() adds one that mem_format() made, and releases it later. */
void data_notes_add(struct data_notes *notes, char *text);
void data_notes_release(struct data_notes *notes);

#endif
