#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "data.h"

static int where;

const struct opt list_opts[] = {
    {"where", 0, OPT_FLAG, &where, 0, 0, NULL,
     "and in which file the image is, from which byte on"},
    {0},
};

/* The cells that --where adds. */
static void
print_where(const struct data_set *set, size_t id)
{
    struct err err;
    uint64_t offset;
    char *path = data_where(set, id, &offset, &err);

    if (path)
        print_cell(path);
    else
        die("%s", err.msg);
    printf("\t%ju", (uintmax_t)offset);
    free(path);
}

void
run_list(char **operand)
{
    struct data_set *set = data_open_or_die(operand[0], 0);

    printf("id\tlabel\tclass\tbytes\twidth\theight\tname\tcaption%s\n",
           where ? "\tfile\toffset" : "");
    for (size_t i = 0; i < data_size(set) && !ferror(stdout); i++) {
        int label = data_label(set, i);

        printf("%zu\t%d", i, label);
        print_cell(label < 0 ? "" : data_class_name(set, (size_t)label));
        printf("\t%zu\t%zu\t%zu", data_length(set, i), data_width(set, i),
               data_height(set, i));
        print_cell(data_name(set, i));
        print_cell(data_caption(set, i));
        if (where)
            print_where(set, i);
        putchar('\n');
    }
    data_close(set);
}
