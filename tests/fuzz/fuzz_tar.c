/* Damaged archives: refused, or all members lie within the file. */
#include "data/pack.h"
#include "data/tar.h"
#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "util/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t *seed, links[4096];
static size_t seed_len;

/* Give each block that could be a header the sum that it should have. */
static void
mend_sums(uint8_t *file, size_t len)
{
    for (size_t at = 0; at + 512 <= len; at += 1024) {
        unsigned sum = 0;

        memset(file + at + 148, ' ', 8);
        for (size_t i = 0; i < 512; i++)
            sum += file[at + i];
        snprintf((char *)file + at + 148, 8, "%06o", sum);
    }
}

static void
make_seed(void)
{
    char *path = scratch_put(1, "", 0);
    struct err err;
    struct data_pack *pack = data_pack_open(path, &err);

    REQUIRE(pack && !data_pack_add(pack, "a/1.jpg", "123", 3, &err) &&
            !data_pack_add(pack, "a/2.jpg", "4567", 4, &err) &&
            !data_pack_keep(pack, &err));
    seed = file_read(path, 1 << 16, &seed_len, &err);
    REQUIRE(seed && seed_len >= sizeof links);
    // the second member is a link to the first, and has no block of its own
    memcpy(links, seed, sizeof links);
    memset(links + 1024 + 124, '0', 11);
    memcpy(links + 1024 + 156, "1a/1.jpg", 9);
    memset(links + 1536, 0, sizeof links - 1536);
    mend_sums(links, 2048);
}
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    const uint8_t *seeds[2];
    size_t lens[2], n;
    struct data_member member;
    struct data_tar *tar;
    struct err err;

    if (!seed)
        make_seed();
    seeds[0] = seed;
    seeds[1] = links;
    lens[0] = lens[1] = 4096; // both files and the end mark
    n = seeded_input(data, len, 2, seeds, lens, file);
    if (len && data[0] == 1)
        mend_sums(file, n < 2048 ? n : 2048);
    tar = data_tar_open(scratch_put(0, file, n), &err);
    while (tar && data_tar_next(tar, &member, &err) > 0)
        REQUIRE(member.offset + member.bytes <= n);
    data_tar_close(tar);
    return 0;
}
