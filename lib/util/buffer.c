#include <stdlib.h>

#include "util/buffer.h"

void
data_bytes_release(struct data_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct data_bytes){0};
}
