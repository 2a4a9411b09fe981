#include <string.h>

#include "data/captions.h"

size_t
data_captions_count(const struct data_set *set, size_t id)
{
    const char *captions = data_caption(set, id);
    size_t n = *captions != 0;

    while ((captions = strchr(captions, '\n'))) {
        captions++;
        n++;
    }
    return n;
}

size_t
data_captions_most(const struct data_set *set)
{
    size_t most = 0;

    for (size_t id = 0; id < data_size(set); id++) {
        const size_t n = data_captions_count(set, id);

        most = n > most ? n : most;
    }
    return most;
}

const char *
data_captions_get(const struct data_set *set, size_t id, size_t k, size_t *len)
{
    const char *caption = data_caption(set, id);

    for (; k; k--) {
        caption = strchr(caption, '\n');
        REQUIRE(caption);
        caption++;
    }
    *len = strcspn(caption, "\n");
    return caption;
}
