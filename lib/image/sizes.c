#include <ctype.h>
#include <stdlib.h>

#include "image/view.h"

/* Reads a whole number up to `most`; returns the end of its digits, or NULL. */
static const char *
read_digits(const char *text, int64_t most, int64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return NULL;
    *value = strtoll(text, &end, 10);
    return *value <= most ? end : NULL;
}

int
image_sizes_parse(const char *text, struct image_sizes *sizes, struct err *err)
{
    const char *at = text;

    for (sizes->n = 0;; at++) {
        const size_t n = sizes->n;
        int64_t size, epoch = 0;

        at = read_digits(at, IMAGE_SIZE_MAX, &size);
        if (at && *at == '@')
            at = read_digits(at + 1, UINT32_MAX, &epoch);
        if (!at || n == IMAGE_SIZES_MAX || !size ||
            (n ? epoch <= sizes->from[n - 1].epoch : epoch != 0) ||
            (*at && *at != ','))
            return err_set(err,
                           "'%.80s' is no size of views: want N, or up to %d "
                           "sizes and their first epochs, as 16@0,32@8",
                           text, IMAGE_SIZES_MAX);
        sizes->from[n].size = (size_t)size;
        sizes->from[n].epoch = epoch;
        sizes->n++;
        if (!*at)
            return 0;
    }
}

size_t
image_sizes_at(const struct image_sizes *sizes, int64_t epoch)
{
    size_t k = sizes->n - 1;

    while (k && sizes->from[k].epoch > epoch)
        k--;
    return sizes->from[k].size;
}

size_t
image_sizes_largest(const struct image_sizes *sizes)
{
    size_t largest = 0;

    for (size_t k = 0; k < sizes->n; k++)
        if (sizes->from[k].size > largest)
            largest = sizes->from[k].size;
    return largest;
}

int
image_groups_parse(const char *text, size_t most, struct image_groups *groups,
                   struct err *err)
{
    const char *at = text;
    size_t all = 0;

    *groups = (struct image_groups){0};
    do {
        const size_t k = groups->n++;
        int64_t views = 0, size = 0;

        at = read_digits(at + (k > 0), (int64_t)most, &views);
        if (at && *at == 'x') {
            at = read_digits(at + 1, IMAGE_SIZE_MAX, &size);
            at = size ? at : NULL;
        }
        groups->of[k].views = (size_t)views;
        groups->of[k].size = (size_t)size;
        all += (size_t)views;
        if (!at || !views || all > most ||
            (k && (!size || groups->of[0].size <= (size_t)size)))
            break;
        if (!*at)
            return 0;
    } while (*at == '+' && groups->n < 2 && groups->of[0].size);
    return err_set(err,
                   "'%.80s' is no number of views: want 1 to %zu, or two "
                   "groups with sizes, the smaller last, as 2x32+6x16",
                   text, most);
}
