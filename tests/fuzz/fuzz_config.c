/* config.json's encoder: refused, or the same when it is written and read. */
#include <string.h>

#include "fuzz/seeded.h"
#include "nn/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char *seed;

static void
make_seed(void)
{
    const struct nn_spec spec = {.arch = "resnet18",
                                 .stem = "small",
                                 .norm = "batch",
                                 .head = "512-128",
                                 .height = 32,
                                 .image_width = 32,
                                 .channels = 3};
    json_t *object = nn_spec_put(&spec);

    seed = json_line(object);
    json_decref(object);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    struct nn_spec spec, again;
    json_t *object, *copy;
    struct err err = {""};
    size_t seed_len;

    if (!seed)
        make_seed();
    seed_len = strlen(seed);
    len = seeded_input(data, len, 1, (const uint8_t *const[]){(uint8_t *)seed},
                       &seed_len, file);
    object = json_parse((char *)file, len, "noise", &err);
    if (!object || nn_spec_get(&spec, object, &err)) {
        REQUIRE(*err.msg);
        json_decref(object);
        return 0;
    }
    copy = nn_spec_put(&spec);
    REQUIRE(!nn_spec_get(&again, copy, &err));
    REQUIRE(!strcmp(spec.arch, again.arch) && spec.height == again.height &&
            !strcmp(spec.head, again.head) && spec.width == again.width);
    json_decref(copy);
    json_decref(object);
    return 0;
}
