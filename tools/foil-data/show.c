#include <stdint.h>
#include <stdio.h>

#include "data.h"
#include "util/digest.h"

struct range {
    size_t min, max;
};

static void
widen(struct range *range, size_t x)
{
    range->min = x < range->min ? x : range->min;
    range->max = x > range->max ? x : range->max;
}

void
run_info(char **operand)
{
    struct data_set *set = open_set(operand[0]);
    struct range width = {SIZE_MAX, 0}, height = width;
    struct digest digest = data_digest(set);
    size_t bytes = 0, captions = 0;
    char hex[DIGEST_HEX];

    for (size_t i = 0; i < data_size(set); i++) {
        bytes += data_length(set, i);
        captions += *data_caption(set, i) != 0;
        widen(&width, data_width(set, i));
        widen(&height, data_height(set, i));
    }
    printf("samples\t%zu\nclasses\t%zu\n", data_size(set), data_classes(set));
    printf("captions\t%zu\nbytes\t%zu\n", captions, bytes);
    printf("width\t%zu\t%zu\nheight\t%zu\t%zu\n", width.min, width.max,
           height.min, height.max);
    printf("digest\t%s\n", digest_hex(&digest, hex));
    data_close(set);
}

/* A text as one cell of a table. */
static void
print_cell(const char *text)
{
    putchar('\t');
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", stdout);
        else if (*text == '\t')
            fputs("\\t", stdout);
        else if (*text == '\\')
            fputs("\\\\", stdout);
        else
            putchar(*text);
}

void
run_list(char **operand)
{
    struct data_set *set = open_set(operand[0]);

    puts("id\tlabel\tclass\tbytes\twidth\theight\tname\tcaption");
    for (size_t i = 0; i < data_size(set) && !ferror(stdout); i++) {
        int label = data_label(set, i);

        printf("%zu\t%d", i, label);
        print_cell(label < 0 ? "" : data_class_name(set, (size_t)label));
        printf("\t%zu\t%zu\t%zu", data_length(set, i), data_width(set, i),
               data_height(set, i));
        print_cell(data_name(set, i));
        print_cell(data_caption(set, i));
        putchar('\n');
    }
    data_close(set);
}
