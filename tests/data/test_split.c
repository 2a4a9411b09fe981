#include "t.h"
#include "data/split.h"
#include "fixture.h"
#include "util/mem.h"

enum { N = 37 };

static struct data_set *
make_set(void)
{
    static char line[N][64];
    char text[N * 64] = "";

    put_jpeg("1.jpg", 1);
    put_jpeg("2.jpg", 2);
    for (int i = 0; i < N; i++) { // 20 of a, 13 of b, 4 without
        const char *class = i % 9 == 8 ? "" : i % 3 ? "a" : "b";

        snprintf(line[i], sizeof line[i], "%d.jpg\t%s\tcaption %d\n", 1 + i % 2,
                 class, i);
        strcat(text, line[i]);
    }
    put_text("list", text);
    return open_indexed("list");
}

static size_t
count(const struct data_set *set, const uint8_t *in_part, int label)
{
    size_t n = 0;

    for (size_t i = 0; i < data_size(set); i++)
        n += in_part[i] && (label == -2 || data_label(set, i) == label);
    return n;
}

static void
shares_are_even(const struct data_set *set)
{
    static const double share[] = {.1, .25, .5, .77};
    uint8_t in_part[N], all[N];

    memset(all, 1, sizeof all);
    for (size_t i = 0; i < 4; i++) {
        int even = 1;

        data_split(set, share[i], 1, in_part);
        T(count(set, in_part, -2) == (size_t)lround(share[i] * N),
          "share %g: %zu of %d", share[i], count(set, in_part, -2), N);
        for (int label = -1; label < 2; label++)
            even &= fabs((double)count(set, in_part, label) -
                         share[i] * (double)count(set, all, label)) < 1;
        T(even, "of each class to within one");
    }
}

static void
seeds_differ(const struct data_set *set)
{
    uint8_t a[N], b[N];

    data_split(set, .5, 1, a);
    data_split(set, .5, 1, b);
    T(!memcmp(a, b, N), "the same seed, the same part");
    data_split(set, .5, 2, b);
    T(memcmp(a, b, N), "another seed, another part");
}

static void
subsets_refer_to_the_data(const struct data_set *set)
{
    uint8_t in_part[N];
    struct data_set *part, *rest;
    size_t at[2] = {0, 0};
    int right = 0;

    data_split(set, .3, 1, in_part);
    T(!data_subset(set, in_part, 1, "part.foil", &err) &&
          !data_subset(set, in_part, 0, "rest.foil", &err),
      "two indexes");
    part = data_open("part.foil", &err);
    rest = data_open("rest.foil", &err);
    REQUIRE(part && rest);
    T(data_size(part) + data_size(rest) == N, "of all samples");
    for (size_t i = 0; i < N; i++) {
        struct data_set *in = in_part[i] ? part : rest;
        size_t j = at[in_part[i]]++;

        right += !strcmp(data_caption(in, j), data_caption(set, i)) &&
                 !strcmp(data_name(in, j), data_name(set, i)) &&
                 data_label(in, j) == data_label(set, i) &&
                 level_of(in, j) == 1 + (int)(i % 2);
    }
    T(right == N, "each in one, in order, and readable");
    T(data_classes(part) == 2 && !strcmp(data_class_name(rest, 1), "b"),
      "with the same classes");
    data_close(part);
    data_close(rest);
    memset(in_part, 0, sizeof in_part);
    T(data_subset(set, in_part, 1, "none.foil", &err) == -1, "%s", err.msg);
}

/* Thins out classes of equal size, all of one image; their new sizes go to
 * size[]. */
static size_t
thin_out(size_t classes, size_t each, double factor, size_t *size)
{
    char *text = mem_array(classes * each, 16), *at = text;
    struct data_set *set;
    uint8_t *stays;
    size_t remaining;

    for (size_t i = 0; i < classes * each; i++)
        at += sprintf(at, "1.jpg\t%zu\n", i % classes);
    put_text("tail", text);
    set = open_indexed("tail");
    REQUIRE(set);
    stays = mem_array(data_size(set), 1);
    remaining = data_longtail(set, factor, 1, stays);
    for (size_t c = 0; c < classes; c++)
        size[c] = count(set, stays, (int)c);
    T(remaining == count(set, stays, -2), "it returns how many remain");
    data_close(set);
    free(stays);
    free(text);
    return remaining;
}

static void
tails_are_those_of_the_papers(void)
{
    static const size_t want[] = {5000, 2997, 1796, 1077, 645,
                                  387,  232,  139,  83,   50};
    size_t size[100];

    T(thin_out(10, 5000, .01, size) == 12406, "CIFAR-10: 12,406 of 50,000");
    T(!memcmp(size, want, sizeof want), "5000, 2997, ..., 50");
    T(thin_out(100, 500, .01, size) == 10847, "CIFAR-100: 10,847");
    T(size[0] == 500 && size[1] == 477 && size[2] == 455 && size[98] == 5 &&
          size[99] == 5,
      "500, 477, 455, ..., 5, 5");
    T(thin_out(10, 5000, 100, size) == 12406 && size[0] == 50 &&
          size[1] == 83 && size[9] == 5000,
      "factor 100: from the other end");
    T(thin_out(2, 7, 1, size) == 14 && size[1] == 7, "factor 1 keeps all");
    T(thin_out(1, 7, .5, size) == 7, "a single class keeps all");
}

static void
tails_have_no_unlabelled(const struct data_set *set)
{
    uint8_t stays[N];

    data_longtail(set, .5, 1, stays);
    T(count(set, stays, -1) == 0 && count(set, stays, 0) == 16 &&
          count(set, stays, 1) == 8,
      "16.5 of 20, 8.25 of 13, none of those without a label");
}

int
main(void)
{
    struct data_set *set;

    if (enter_folder())
        return 1;
    set = make_set();
    T(set && data_size(set) == N, "%s", set ? "a set" : err.msg);
    if (set) {
        shares_are_even(set);
        seeds_differ(set);
        subsets_refer_to_the_data(set);
        tails_have_no_unlabelled(set);
    }
    data_close(set);
    tails_are_those_of_the_papers();
    if (leave_folder())
        return 1;
    return t_done();
}
