#include <stdint.h>
#include <stdio.h>

#include "data.h"
#include "data/set.h"
#include "image/codec.h"
#include "text/captions.h"
#include "util/digest.h"

struct range {
    size_t min, max;
};

static void
widen_range(struct range *range, size_t x)
{
    range->min = x < range->min ? x : range->min;
    range->max = x > range->max ? x : range->max;
}

void
run_info(char **operand)
{
    struct data_set *set = data_open_or_die(operand[0], 0), *other;
    struct range width = {SIZE_MAX, 0}, height = width;
    struct digest digest = data_digest(set);
    size_t bytes = 0, captioned = 0, captions = 0;
    size_t codecs[DATA_CODECS] = {0};
    char hex[DIGEST_HEX];

    for (size_t i = 0; i < data_size(set); i++) {
        bytes += data_length(set, i);
        captioned += *data_caption(set, i) != 0;
        captions += data_captions_count(data_caption(set, i));
        widen_range(&width, data_width(set, i));
        widen_range(&height, data_height(set, i));
        codecs[data_codec(set, i)]++;
    }
    printf("samples\t%zu\nclasses\t%zu\n", data_size(set), data_classes(set));
    printf("captions\t%zu\ntexts\t%zu\t%zu\n", captioned, captions,
           data_captions_most(set));
    printf("bytes\t%zu\n", bytes);
    for (enum data_codec codec = 0; codec < DATA_CODECS; codec++)
        printf("%s\t%zu\n", data_codec_name(codec), codecs[codec]);
    printf("width\t%zu\t%zu\nheight\t%zu\t%zu\n", width.min, width.max,
           height.min, height.max);
    printf("digest\t%s\n", digest_hex(&digest, hex));
    if (operand[1]) {
        other = data_open_or_die(operand[1], 0);
        printf("shared\t%zu\n", data_shared(set, other));
        data_close(other);
    }
    data_close(set);
}
