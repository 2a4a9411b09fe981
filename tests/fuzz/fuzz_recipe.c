/* Specs of recipes: refused, or every field is in range. */
#include <string.h>

#include "image/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char spec[256] = "none,";
    const size_t name = strlen(spec), room = sizeof spec - 1 - name;
    struct image_recipe recipe;
    struct err err;

    if (len)
        memcpy(spec + name, data, len < room ? len : room);
    if (!image_recipe_find(spec, &recipe, &err))
        REQUIRE(!image_recipe_check(&recipe, &err));
    return 0;
}
