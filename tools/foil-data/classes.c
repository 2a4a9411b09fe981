#include <stdio.h>
#include <stdlib.h>

#include "data.h"
#include "util/mem.h"

void
run_classes(char **operand)
{
    struct data_set *set = data_open_or_die(operand[0], 0);
    const size_t classes = data_classes(set);
    size_t *count = mem_array(classes + 1, sizeof *count), *bare = count++;

    for (size_t i = 0; i < data_size(set); i++)
        count[data_label(set, i)]++; // -1: no label
    puts("label\tsamples\tclass");
    for (size_t label = 0; label < classes; label++) {
        printf("%zu\t%zu", label, count[label]);
        print_cell(data_class_name(set, label));
        putchar('\n');
    }
    if (*bare)
        printf("-1\t%zu\t\n", *bare);
    free(bare);
    data_close(set);
}
