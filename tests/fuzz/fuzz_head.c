/* --head: refused with a sentence, or taken again the same. */
#include <string.h>

#include "nn/graph.h"
#include "util/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char text[128] = "512-128-bn";
    struct err err = {""};

    if (len > sizeof text - 1)
        len = sizeof text - 1;
    for (size_t i = 0; i < len; i++) // changes to a sound one
        text[i] = (char)(text[i] + data[i]);
    if (nn_head_check(text, &err))
        REQUIRE(*err.msg);
    return 0;
}
