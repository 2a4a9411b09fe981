/*
 * Indexes, and a list of one, damaged with and without digests that fit:
 * refused, or every question about every sample has an answer.
 */
#include <string.h>
#include <unistd.h>

#include "data/join.h"
#include "data/layout.h"
#include "fuzz/scratch.h"
#include "fuzz/seeded.h"
#include "util/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static uint8_t *seed, *list;
static size_t seed_len, list_len;

/* An index of three samples in two places. */
static void
make_seed(void)
{
    struct layout_parts parts = {0};
    struct layout_sample sample = {.bytes = 4, .width = 8, .height = 8};
    struct err err;
    char *path = scratch_put(1, "1234567", 7);

    data_layout_text(&parts, "", 0);
    REQUIRE(!data_layout_file(&parts, path, LAYOUT_TAR, 7, &err));
    REQUIRE(!data_layout_file(&parts, "/", LAYOUT_FOLDER, 0, &err));
    data_layout_mark(&parts, "", 0, &(struct tree_state){1, 2, 3});
    data_layout_mark(&parts, "list", 1, &(struct tree_state){1, 2, 3});
    parts.sample = calloc(3, sizeof sample);
    parts.class = calloc(1, sizeof *parts.class);
    parts.classes = 1;
    parts.class[0] = data_layout_text(&parts, "class", 5);
    sample.name = data_layout_text(&parts, "name", 4);
    sample.caption = data_layout_text(&parts, "caption", 7);
    for (size_t i = 0; i < 3; i++) {
        sample.file = i == 2;
        sample.offset = i;
        parts.sample[i] = sample;
    }
    parts.samples = 3;
    path = scratch_put(0, "", 0);
    REQUIRE(!data_layout_write(&parts, path, &err));
    seed = file_read(path, 1 << 16, &seed_len, &err);
    REQUIRE(seed);
    data_layout_release(&parts);
}

/* A list with that index twice, in another file, which stays. */
static void
make_list(void)
{
    struct data_join *join = data_join_new();
    char *index = scratch_put(2, seed, seed_len), *note;
    struct err err;

    for (size_t i = 0; i < 2; i++)
        REQUIRE(!data_join_add(join, index, NULL, &err));
    REQUIRE(
        !data_join_write(join, scratch_put(0, seed, seed_len), &note, &err));
    list = file_read(scratch[0], 1 << 16, &list_len, &err);
    REQUIRE(list);
    data_join_free(join);
}

static void
mend_digests(uint8_t *file, size_t len)
{
    const size_t before = sizeof(struct layout_head) + sizeof(struct digest);
    struct layout_head head;
    struct digest part;

    if (len < before)
        return;
    memcpy(&head, file, sizeof head);
    part = digest_bytes(file + before, len - before);
    memcpy(file + sizeof head, &part, sizeof part);
    head.body = digest_bytes(&part, sizeof part);
    head.head = digest_bytes(&head, offsetof(struct layout_head, head));
    memcpy(file, &head, sizeof head);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    const uint8_t *seeds[4];
    size_t lens[4];
    struct data_bytes bytes = {0};
    struct data_set *set;
    struct err err;
    size_t n, sum = 0;

    if (!seed) {
        make_seed();
        make_list();
    }
    for (size_t i = 0; i < 4; i++) {
        seeds[i] = i < 2 ? seed : list;
        lens[i] = i < 2 ? seed_len : list_len;
    }
    n = seeded_input(data, len, 4, seeds, lens, file);
    if (len && data[0] < 4 && data[0] % 2)
        mend_digests(file, n);
    set = data_open(scratch_put(0, file, n), &err);
    if (set)
        sum += data_stale(set, &err) != 0;
    for (size_t i = 0; set && i < data_classes(set); i++)
        sum += strlen(data_class_name(set, i));
    for (size_t i = 0; set && i < data_size(set); i++) {
        REQUIRE(data_label(set, i) < (int)data_classes(set));
        sum += strlen(data_name(set, i)) + strlen(data_caption(set, i));
        data_read(set, i, &bytes, &err);
    }
    data_close(set);
    set = data_open_parts(scratch_put(0, file, n), &err);
    for (size_t i = 0; set && i < data_size(set); i++)
        if (!data_touch(set, data_size(set) - 1 - i, &err))
            sum += strlen(data_name(set, data_size(set) - 1 - i));
    data_bytes_release(&bytes);
    data_close(set);
    return sum == 1;
}
