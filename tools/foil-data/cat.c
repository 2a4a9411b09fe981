#include <stdio.h>

#include "data.h"

void
run_cat(char **operand)
{
    struct data_set *set = data_open_or_die(operand[0], 0);
    const size_t id =
        (size_t)opt_whole("ID", operand[1], 0, (double)(data_size(set) - 1));
    struct data_bytes bytes = {0};
    struct err err;

    if (data_read(set, id, &bytes, &err))
        die("%s", err.msg);
    fwrite(bytes.data, 1, bytes.len, stdout);
    data_bytes_release(&bytes);
    data_close(set);
}
