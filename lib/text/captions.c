#include <string.h>

#include "text/captions.h"
#include "util/rng.h"

size_t
text_captions_count(const char *captions)
{
    size_t n = *captions != 0;

    while ((captions = strchr(captions, '\n'))) {
        captions++;
        n++;
    }
    return n;
}

const char *
text_captions_get(const char *captions, size_t k, size_t *len)
{
    for (; k; k--) {
        captions = strchr(captions, '\n');
        REQUIRE(captions);
        captions++;
    }
    *len = strcspn(captions, "\n");
    return captions;
}

size_t
text_captions_draw(enum text_caption caption, uint64_t seed, size_t id,
                   uint64_t epoch, size_t n)
{
    struct rng rng;

    REQUIRE(n);
    if (caption != TEXT_CAPTION_RANDOM)
        return 0;
    rng_init(&rng, seed, RNG_CAPTION, id, epoch, 0);
    return rng_below(&rng, n);
}

size_t
text_captions_row(const char *captions, size_t id, size_t k,
                  const struct text_captions_settings *how, uint64_t seed,
                  uint64_t epoch, struct text_vocabulary *vocabulary,
                  int32_t *row)
{
    const int all = how->caption == TEXT_CAPTION_ALL;
    struct rng rng;
    size_t n = 1, len;
    const char *text = all ? captions : text_captions_get(captions, k, &len);

    REQUIRE(how->context >= 2 && (!all || !k));
    if (all)
        len = strlen(text); // a line end is a blank
    rng_init(&rng, seed, RNG_TOKENS, id, epoch, k);
    row[0] = text_vocabulary_start(vocabulary);
    n += text_vocabulary_encode(vocabulary, text, len, how->drop, &rng,
                                how->context - 2, row + 1);
    row[n++] = text_vocabulary_end(vocabulary);
    for (size_t i = n; i < how->context; i++)
        row[i] = 0;
    return n;
}
