#include "data/group.h"
#include "fixture.h"
#include "image/generate.h"
#include "t.h"
#include "util/rng.h"

/* Compares group numbers with the expected ones. */
static void
are(size_t n, const int64_t *group, size_t groups, const int64_t *want,
    const char *what)
{
    int64_t most = -1;

    for (size_t i = 0; i < n; i++)
        most = want[i] > most ? want[i] : most;
    T(groups == (size_t)(most + 1) && !memcmp(group, want, n * sizeof *group),
      "%s: %zu groups", what, groups);
}

static void
sets_have_groups(void)
{
    static const int64_t label[] = {0, 1, 0, 2, 1, 3, 4};
    static const int64_t caption[] = {0, 0, 1, 2, 0, 3, 4};
    static const int64_t file[] = {0, 1, 2, 0, 1, 3, 4};
    struct data_set *set;
    int64_t group[7];

    file_mkdir("x", 0700, &err);
    file_mkdir("y", 0700, &err);
    put_jpeg("x/1.jpg", 1);
    put_jpeg("x/2.jpg", 2);
    put_jpeg("x/3.jpg", 3);
    put_jpeg("y/1.jpg", 4);
    put_jpeg("y/2.jpg", 5);
    put_jpeg("y/12.jpg", 6);
    put_jpeg("13.jpg", 7);
    put_text("list", "x/1.jpg\ta\ta dog\n"
                     "x/2.jpg\tb\ta dog\n"
                     "x/3.jpg\ta\ta do\n"
                     "y/1.jpg\tc\ta dogs\n"
                     "y/2.jpg\tb\ta dog\n"
                     "y/12.jpg\t\n"
                     "13.jpg\n");
    set = open_indexed("list");
    REQUIRE(set);
    are(7, group, data_group_label(set, group), label, "by label");
    are(7, group, data_group_caption(set, group), caption, "by caption");
    are(7, group, data_group_file(set, group), file, "by file");
    data_close(set);
}

/* Captions in a .txt: samples chained by common lines are one group, without
 * regard to case and white space. */
static void
any_common_line_counts(void)
{
    static const int64_t want[] = {0, 1, 0, 0, 2};
    struct data_set *set;
    int64_t group[5];
    const char *text[] = {"red\nblue", "green", " BLUE\nlight  gr\xc3\x9cn",
                          "Light gr\xc3\xbcn\n", "\n\n"};

    file_mkdir("lines", 0700, &err);
    for (int i = 0; i < 5; i++) {
        char name[32];

        snprintf(name, sizeof name, "lines/%d.jpg", i);
        put_jpeg(name, i);
        snprintf(name, sizeof name, "lines/%d.txt", i);
        put_text(name, text[i]);
    }
    set = open_indexed("lines");
    REQUIRE(set);
    are(5, group, data_group_caption(set, group), want, "by lines");
    data_close(set);
}

static struct image_fingerprint
print_of(const struct image *image)
{
    struct image_scratch *scratch = NULL;
    struct image_fingerprint print;

    image_fingerprint(image, &scratch, &print);
    image_scratch_free(scratch);
    return print;
}

/* The picture after compression, a little brighter, at twice the size. */
static void
versions_are_recognised(void)
{
    enum { SHAPES = 40, ALL = SHAPES + 3 };
    struct image_fingerprint print[ALL];
    struct image image = {0}, other = {0};
    struct data_bytes bytes = {0};
    struct image_decoder *decoder = NULL;
    char caption[IMAGE_GENERATE_CAPTION];
    int64_t group[ALL];

    image_size(&image, 64, 64);
    image_size(&other, 32, 32);
    for (size_t i = 0; i < SHAPES; i++) {
        image_generate(1, i, 32, other.pixel, caption);
        print[i] = print_of(&other);
    }
    image_generate(1, 7, 32, other.pixel, caption);
    for (size_t i = 0; i < 64 * 64 * 3; i++)
        image.pixel[i] =
            other.pixel[(i / 384 * 32 + i / 3 % 64 / 2) * 3 + i % 3];
    print[SHAPES] = print_of(&image);
    REQUIRE(!image_jpeg_encode(other.pixel, 32, 32, 3, 50, &bytes, &err) &&
            !image_codec_decode(&decoder, bytes.data, bytes.len, 1024,
                                IMAGE_REFUSE, NULL, &image, &err));
    print[SHAPES + 1] = print_of(&image);
    for (size_t i = 0; i < 32 * 32 * 3; i++)
        other.pixel[i] = (uint8_t)(other.pixel[i] / 1.05);
    print[SHAPES + 2] = print_of(&other);
    T(data_group_fingerprint(ALL, print, 8, 12, group) == SHAPES,
      "40 shapes, 3 versions of one: 40 groups");
    for (size_t i = SHAPES; i < ALL; i++)
        T(group[i] == 7, "version %zu is with the original", i - SHAPES);
    T(data_group_fingerprint(ALL, print, 0, 0, group) == ALL,
      "without tolerance no images are alike");
    image_release(&image);
    image_release(&other);
    data_bytes_release(&bytes);
    image_jpeg_free(decoder);
}

/* All pairs, naively. */
static size_t
naive(size_t n, const struct image_fingerprint *print, size_t bits,
      double levels, int64_t *group)
{
    size_t groups = 0;

    for (size_t i = 0; i < n; i++)
        group[i] = -1;
    for (size_t i = 0; i < n; i++) {
        if (group[i] >= 0)
            continue;
        group[i] = (int64_t)groups;
        for (int grew = 1; grew;) {
            grew = 0;
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b < n; b++) {
                    uint64_t x = print[a].hash ^ print[b].hash;
                    size_t apart = 0;
                    double sum = 0;

                    for (; x; x &= x - 1)
                        apart++;
                    for (size_t k = 0; k < sizeof print->pixel; k++)
                        sum += abs(print[a].pixel[k] - print[b].pixel[k]);
                    if (group[a] == (int64_t)groups && group[b] < 0 &&
                        apart <= bits && sum / sizeof print->pixel <= levels) {
                        group[b] = (int64_t)groups;
                        grew = 1;
                    }
                }
        }
        groups++;
    }
    return groups;
}

/* Families of random hashes with up to 9 flipped bits. */
static void
no_pair_is_missed(void)
{
    enum { N = 60 };
    static struct image_fingerprint print[N];
    int64_t group[N], want[N];
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < N; i++) {
        print[i].hash = i % 6 ? print[i - 1].hash : rng_u64(&rng);
        for (uint64_t k = rng_below(&rng, 10); i % 6 && k; k--)
            print[i].hash ^= (uint64_t)1 << rng_below(&rng, 64);
        for (size_t k = 0; k < sizeof print->pixel; k++)
            print[i].pixel[k] = (uint8_t)(100 + rng_below(&rng, 10));
    }
    for (size_t bits = 0; bits < 16; bits += 3) {
        size_t groups = data_group_fingerprint(N, print, bits, 3.4, group);

        T(naive(N, print, bits, 3.4, want) == groups &&
              !memcmp(group, want, sizeof want),
          "up to %zu bits: %zu groups, as naively counted", bits, groups);
    }
}

int
main(void)
{
    if (enter_folder())
        return 1;
    sets_have_groups();
    any_common_line_counts();
    versions_are_recognised();
    no_pair_is_missed();
    if (leave_folder())
        return 1;
    return t_done();
}
