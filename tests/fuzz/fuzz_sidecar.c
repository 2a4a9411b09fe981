/*
 * What stands beside an image in a tar, and lists of files: captions, labels,
 * class names, tables of captions.  Refused, or every sample has a label in
 * range, and captions that are UTF-8 and within their limits.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unistr.h>

#include "data/index.h"
#include "data/pack.h"
#include "fuzz/scratch.h"
#include "jpegs.h"
#include "text/captions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char *const members[] = {"a/1.cls", "a/1.txt", "a/2.cls",
                                      "a/1.json", "b/3.cls"};
enum { MEMBERS = sizeof members / sizeof *members };

/* Three images; behind each other the input's texts, each of so many bytes. */
static void
write_tar(const char *path, const struct data_bytes *jpeg, const uint8_t *data,
          size_t len)
{
    struct err err;
    struct data_pack *pack = data_pack_open(path, &err);

    REQUIRE(pack &&
            !data_pack_add(pack, "a/1.jpg", jpeg->data, jpeg->len, &err) &&
            !data_pack_add(pack, "a/2.jpg", jpeg->data, jpeg->len, &err) &&
            !data_pack_add(pack, "b/3.jpg", jpeg->data, jpeg->len, &err));
    for (size_t i = 0; i < MEMBERS && len; i++) {
        const size_t n = data[0] < len - 1 ? data[0] : len - 1;

        REQUIRE(!data_pack_add(pack, members[i], data + 1, n, &err));
        data += 1 + n;
        len -= 1 + n;
    }
    REQUIRE(!data_pack_keep(pack, &err));
}

static size_t
look(const char *path)
{
    struct err err;
    struct data_set *set = data_open(path, &err);
    size_t sum = 0;

    REQUIRE(set && data_size(set));
    for (size_t i = 0; i < data_classes(set); i++)
        sum += strlen(data_class_name(set, i));
    for (size_t i = 0; i < data_size(set); i++) {
        const char *captions = data_caption(set, i);

        REQUIRE(data_label(set, i) < (int)data_classes(set));
        sum += strlen(data_name(set, i)) + strlen(captions);
        for (size_t k = 0; k < text_captions_count(captions); k++) {
            size_t n;
            const char *caption = text_captions_get(captions, k, &n);

            REQUIRE(n && n <= TEXT_CAPTION_BYTES &&
                    !u8_check((const uint8_t *)caption, n));
        }
        REQUIRE(text_captions_count(captions) <= TEXT_CAPTIONS_MAX);
    }
    data_close(set);
    return sum;
}

/* A tar and a table beside it; a list of one file; or a tar: as byte 0 says. */
static void
put_input(char *place, const char *image, const struct data_bytes *jpeg,
          const uint8_t *data, size_t len)
{
    char text[512];
    int n;

    if (len && data[0] % 3 == 2) {
        write_tar(place, jpeg, data, 0);
        scratch_put(1, data + 1, len - 1);
    } else if (len && data[0] % 3 == 1) {
        scratch_write(image, jpeg->data, jpeg->len);
        n = snprintf(text, sizeof text, "%s\t", image);
        len = len - 1 < 300 ? len - 1 : 300;
        memcpy(text + n, data + 1, len);
        scratch_put(0, text, (size_t)n + len);
    } else {
        write_tar(place, jpeg, len ? data + 1 : data, len ? len - 1 : 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct data_index_settings how = {.skip_bad = 1,
                                                   .max_pixels = 1 << 16};
    static struct data_bytes jpeg;
    static char image[80];
    char *place = scratch_put(0, "", 0);
    struct err err = {""};
    struct data_index *index;
    struct data_index_rows rows;
    int rc = 1;
    const int table = len && data[0] % 3 == 2;

    if (!jpeg.len) {
        const struct kind kind = {3, JCS_RGB, JCS_YCbCr, 0, 0, 0};

        jpeg = write_kind(&kind);
        snprintf(image, sizeof image, "%s.jpg", place);
    }
    put_input(place, image, &jpeg, data, len);
    index = data_index_new(&how);
    if (!data_index_add(index, place, &err))
        while ((rc = data_index_next(index, &err)) > 0)
            ;
    if (!rc && table)
        rc = data_index_table(index, scratch[1], &rows, &err);
    REQUIRE(rc == 0 || *err.msg);
    if (!rc && !data_index_write(index, scratch_put(1, "", 0), &err))
        look(scratch[1]);
    data_index_free(index);
    unlink(image);
    return 0;
}
