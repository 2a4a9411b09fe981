/* Names of classes: refused, or written and read again they are the same. */
#include <stdlib.h>
#include <string.h>

#include "data/classes.h"
#include "fuzz/seeded.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const char text[] = "ant\nline\\nend\r\nb\\tc\\\\\n007\n7\n";
    static const uint8_t *const seed[] = {(const uint8_t *)text};
    static const size_t seed_len[] = {sizeof text - 1};
    static uint8_t file[SEEDED_ROOM];
    struct data_classes a, b;
    struct err err;
    int64_t *label;
    char *again;

    len = seeded_input(data, len, 1, seed, seed_len, file);
    if (data_classes_parse(&a, (const char *)file, len, &err))
        return 0;
    again = data_classes_text(&a, &len);
    REQUIRE(!data_classes_parse(&b, again, len, &err) && a.n == b.n);
    label = mem_array(a.n, sizeof *label);
    data_classes_match(&a, &b, label);
    for (size_t i = 0; i < a.n; i++)
        REQUIRE(label[i] == (int64_t)i && !strcmp(a.name[i], b.name[i]));
    data_classes_numbers(&a);
    free(label);
    free(again);
    data_classes_release(&a);
    data_classes_release(&b);
    return 0;
}
