#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "data.h"
#include "util/digest.h"
#include "util/mem.h"

void
run_cat(char **operand)
{
    struct data_set *set = data_open_parts_or_die(operand[0], 0);
    const size_t id =
        (size_t)opt_whole("ID", operand[1], 0, (double)(data_size(set) - 1));
    struct data_bytes bytes = {0};
    struct err err;

    or_die(data_read(set, id, &bytes, &err), &err);
    fwrite(bytes.data, 1, bytes.len, stdout);
    data_bytes_release(&bytes);
    data_close(set);
}

/* Prints a tab and a text as one cell of a table; line ends, tabs and
 * backslashes become \n, \t and \\. */
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

void
run_info(char **operand)
{
    struct data_set *set = data_open_parts_or_die(operand[0], 0), *other;
    struct data_facts facts;
    char hex[DIGEST_HEX];
    struct err err;

    or_die(data_facts(set, &facts, &err), &err);
    printf("samples\t%zu\nclasses\t%zu\n", data_size(set), data_classes(set));
    printf("captions\t%ju\ntexts\t%ju\t%ju\n", (uintmax_t)facts.captioned,
           (uintmax_t)facts.captions, (uintmax_t)facts.most_captions);
    printf("bytes\t%ju\n", (uintmax_t)facts.bytes);
    for (enum image_codec codec = 0; codec < IMAGE_CODECS; codec++)
        printf("%s\t%ju\n", image_codec_name(codec),
               (uintmax_t)facts.codec[codec]);
    printf("width\t%ju\t%ju\nheight\t%ju\t%ju\n", (uintmax_t)facts.width[0],
           (uintmax_t)facts.width[1], (uintmax_t)facts.height[0],
           (uintmax_t)facts.height[1]);
    printf("digest\t%s\n", digest_hex(data_digest(set), hex));
    if (operand[1]) {
        other = data_open_or_die(operand[1], 0);
        or_die(data_check(set, &err), &err);
        printf("shared\t%zu\n", data_count_common(set, other));
        data_close(other);
    }
    data_close(set);
}

static int where;

const struct opt list_opts[] = {
    {"where", 0, OPT_FLAG, &where, 0, 0, NULL,
     "also print the file of each image, and its offset in bytes"},
    STAGE_FETCH_OPTS,
    {0},
};

void
run_list(char **operand)
{
    struct data_set *set = data_open_or_die(operand[0], 0);
    struct err err;
    uint64_t offset;
    char *path;

    printf("id\tlabel\tclass\tbytes\twidth\theight\tname\tcaption%s\n",
           where ? "\tfile\toffset" : "");
    for (size_t i = 0; i < data_size(set) && !ferror(stdout); i++) {
        const struct data_file file = data_file(set, i);
        const int label = data_label(set, i);

        printf("%zu\t%d", i, label);
        print_cell(label < 0 ? "" : data_class_name(set, (size_t)label));
        printf("\t%zu\t%zu\t%zu", file.bytes, file.width, file.height);
        print_cell(data_name(set, i));
        print_cell(data_caption(set, i));
        if (where) {
            path = data_where(set, i, &offset, &err);
            if (path)
                print_cell(path);
            else
                die("%s", err.msg);
            printf("\t%ju", (uintmax_t)offset);
            free(path);
        }
        putchar('\n');
    }
    data_close(set);
}
