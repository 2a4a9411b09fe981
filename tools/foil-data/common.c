#include <stdio.h>
#include <sys/stat.h>

#include "data.h"
#include "data/split.h"

const char *
require_output(const char *output, const char *what)
{
    if (!output)
        opt_misuse("name the %s with -o FILE", what);
    return output;
}

void
write_subset(const struct data_set *set, const uint8_t *in_part, uint8_t which,
             const char *path)
{
    struct err err;

    data_protect_or_die(set, path);
    refuse_overwriting(path);
    if (data_subset(set, in_part, which, path, &err))
        die("%s", err.msg);
}

void
refuse_overwriting(const char *index)
{
    struct stat st;
    struct err err;

    if (!stat(index, &st) && S_ISREG(st.st_mode) && st.st_size &&
        data_is_index(index, &err) != 1)
        opt_misuse("'%s' exists and is no index; choose another name, or "
                   "remove it",
                   index);
}

void
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
