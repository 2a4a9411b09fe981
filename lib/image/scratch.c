#include <stdlib.h>

#include "util/mem.h"

#include "scratch.h"

struct data_scratch *
data_scratch(struct data_scratch **scratch)
{
    if (!*scratch)
        *scratch = mem_array(1, sizeof **scratch);
    return *scratch;
}

uint8_t *
data_scratch_bytes(struct data_scratch **scratch, int which, size_t n)
{
    struct data_scratch *s = data_scratch(scratch);

    mem_grow(&s->buffer[which].byte, &s->buffer[which].room, n, 1);
    return s->buffer[which].byte;
}

void
data_scratch_free(struct data_scratch *scratch)
{
    if (!scratch)
        return;
    for (int i = 0; i < DATA_BUFFERS; i++)
        free(scratch->buffer[i].byte);
    for (int i = 0; i < 2 * DATA_AXES; i++) {
        free(scratch->axis[i / DATA_AXES][i % DATA_AXES].tap);
        free(scratch->axis[i / DATA_AXES][i % DATA_AXES].weight);
    }
    free(scratch);
}
