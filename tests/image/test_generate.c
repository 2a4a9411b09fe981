#include <string.h>

#include "image/generate.h"
#include "t.h"
#include "util/digest.h"

enum { SIZE = 24, N = 64 };

static void
images_are_a_function_of_seed_and_id(void)
{
    uint8_t a[SIZE * SIZE * 3], b[SIZE * SIZE * 3];
    char caption[IMAGE_GENERATE_CAPTION], other[IMAGE_GENERATE_CAPTION];
    int equal = 0;

    image_generate(1, 5, SIZE, a, caption);
    image_generate(1, 5, SIZE, b, other);
    T(!memcmp(a, b, sizeof a) && !strcmp(caption, other),
      "the same seed and id give the same image");
    for (uint64_t id = 6; id < 5 + N; id++) {
        image_generate(1, id, SIZE, b, other);
        equal += !memcmp(a, b, sizeof a);
    }
    image_generate(2, 5, SIZE, b, other);
    equal += !memcmp(a, b, sizeof a);
    T(!equal, "another id or seed: another image");
}

/* This digest is of pixels that were checked by eye. */
static void
images_are_the_same_everywhere(void)
{
    static uint8_t pixel[N][SIZE * SIZE * 3];
    char caption[IMAGE_GENERATE_CAPTION], hex[DIGEST_HEX];

    for (uint64_t id = 0; id < N; id++)
        image_generate(1, id, SIZE, pixel[id], caption);
    digest_hex(digest_bytes(pixel, sizeof pixel), hex);
    T(!strcmp(hex, "17509c5b0ba1cf26d60de3df91bfd576"), "%s", hex);
}

static void
captions_name_the_class(void)
{
    static const char *const class[] = {"circle", "square", "triangle",
                                        "cross",  "ring",   "stripes",
                                        "checks", "dots"};
    uint8_t pixel[SIZE * SIZE * 3];
    char caption[IMAGE_GENERATE_CAPTION];
    int wrong = 0, lines = 0, article = 0;

    for (uint64_t id = 0; id < N; id++) {
        int label = image_generate(3, id, SIZE, pixel, caption);

        wrong += label != (int)(id % IMAGE_GENERATE_CLASSES) ||
                 !strstr(caption, class[label]);
        lines += strchr(caption, '\n') != NULL;
        article += strstr(caption, " a orange") || strstr(caption, "an red");
    }
    T(!wrong, "each names its class");
    T(lines == N, "in two lines");
    T(!article, "in English");
}

int
main(void)
{
    images_are_a_function_of_seed_and_id();
    images_are_the_same_everywhere();
    captions_name_the_class();
    return t_done();
}
