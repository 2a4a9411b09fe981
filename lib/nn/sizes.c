#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"

#include "encoder.h"

int
nn_sizes_word(const struct nn_encoder *encoder, char *text, size_t room)
{
    const char *form = encoder->form;

    if (!form)
        return snprintf(text, room, "%s", encoder->name);
    return snprintf(text, room, encoder->required ? "%s:%s" : "%s[:%s]",
                    encoder->name, form);
}

/* Reads "128x2x4"; returns the count of numbers, 0 if it is invalid or has more
 * than `most`. */
static size_t
read_sizes(const char *text, size_t most, size_t of[NN_SIZES])
{
    size_t n = 0;

    while (n < most) {
        unsigned long value;
        char *end;

        if (!isdigit((unsigned char)*text))
            return 0;
        value = strtoul(text, &end, 10);
        if (value < 1 || value > 8192)
            return 0;
        of[n++] = value;
        if (!*end)
            return n;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* Returns -1 if the arch does not have the encoder's form. */
static int
sizes_of(const struct nn_encoder *encoder, const char *arch,
         struct nn_sizes *sizes)
{
    const char *colon = strchr(arch, ':');
    const size_t all = encoder->sizes, most = all + (size_t)encoder->heads;
    size_t n;

    memcpy(sizes->of, encoder->defaults, sizeof sizes->of);
    if (!colon)
        return encoder->required ? -1 : 0;
    n = read_sizes(colon + 1, most, sizes->of);
    if (n < all)
        return -1;
    if (encoder->heads && n == all)
        sizes->of[all] = sizes->of[0] < 128 ? 1 : sizes->of[0] / 64;
    return 0;
}

static int
check_text(const struct nn_spec *spec, struct err *err)
{
    if (spec->vocabulary < 1 || spec->vocabulary > 1 << 24)
        return err_set(err, "a vocabulary of %ld tokens: want 1 to %d",
                       spec->vocabulary, 1 << 24);
    if (spec->context < 1 || spec->context > 8192)
        return err_set(err, "texts of up to %ld tokens: want 1 to 8192",
                       spec->context);
    return 0;
}

int
nn_sizes_check(const struct nn_encoder *encoder, const struct nn_spec *spec,
               struct err *err)
{
    struct nn_sizes sizes;
    char want[64];

    if (encoder->input == NN_TOKENS && check_text(spec, err))
        return -1;
    if (!encoder->form)
        return 0;
    if (sizes_of(encoder, spec->arch, &sizes)) {
        nn_sizes_word(encoder, want, sizeof want);
        return err_set(err, "bad encoder '%s': want %s, numbers up to 8192",
                       spec->arch, want);
    }
    if (encoder->heads && sizes.of[0] % sizes.of[encoder->sizes])
        return err_set(err, "'%s': %zu numbers cannot be shared by %zu heads",
                       spec->arch, sizes.of[0], sizes.of[encoder->sizes]);
    if (encoder->input == NN_IMAGES &&
        (spec->height % sizes.of[2] || spec->image_width % sizes.of[2]))
        return err_set(err,
                       "'%s': images of %zux%zu cannot be cut into patches of "
                       "%zux%zu",
                       spec->arch, spec->height, spec->image_width, sizes.of[2],
                       sizes.of[2]);
    return 0;
}

struct nn_sizes
nn_sizes_of(const struct nn_encoder *encoder, const char *arch)
{
    struct nn_sizes sizes;
    const int rc = sizes_of(encoder, arch, &sizes);

    REQUIRE(!rc);
    return sizes;
}
