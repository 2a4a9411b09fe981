/* Certificates, our own and others': refused, or with a key and a role. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "util/mem.h"
#include "wire/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *home;
static char *path[2];
static uint8_t *seed[2];
static size_t seed_len[2];

static void
make_seeds(void)
{
    struct err err;

    home = scratch_folder();
    REQUIRE(!wire_keys_make(home, "x", "augment", &err));
    path[0] = mem_format("%s/x.key_secret", home);
    path[1] = mem_format("%s/x.key", home);
    for (size_t i = 0; i < 2; i++) {
        seed[i] = file_read(path[i], SEEDED_ROOM, &seed_len[i], &err);
        REQUIRE(seed[i]);
    }
}

/* The first byte is which of the two files is damaged. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    const size_t which = len ? data[0] & 1 : 0;
    struct wire_keys keys;
    struct err err = {""};
    size_t n;

    if (!seed[0])
        make_seeds();
    n = seeded_input(len ? data + 1 : data, len ? len - 1 : 0, 1,
                     (const uint8_t *const[]){seed[which]}, &seed_len[which],
                     file);
    scratch_write(path[which], file, n);
    if (wire_keys_open(&keys, path[0], home, &err)) {
        REQUIRE(*err.msg);
    } else {
        REQUIRE(strlen(keys.own.secret_key) == WIRE_KEY_TEXT - 1);
        for (size_t i = 0; i < keys.n; i++)
            REQUIRE(strlen(keys.allowed[i].public_key) == WIRE_KEY_TEXT - 1 &&
                    wire_role_known(keys.allowed[i].role));
        wire_keys_release(&keys);
    }
    scratch_write(path[which], seed[which], seed_len[which]);
    return 0;
}
