#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "text/merges.h"
#include "text/vocabulary.h"
#include "util/file.h"

enum { BYTES = 514, CLIP = 49408 };

static const char *output;
static long size = 8192, min = 2;

const struct opt vocabulary_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the vocabulary; required"},
    {"size", 0, OPT_WHOLE, &size, BYTES, CLIP, "N", "at most N tokens"},
    {"min", 0, OPT_WHOLE, &min, 1, 1e15, "N",
     "merge no pair that occurs less often"},
    {0},
};

void
run_vocabulary(char **data)
{
    const char *path = require_output(output, "vocabulary");
    struct text_merges *merges = text_merges_new();
    struct text_vocabulary *vocabulary;
    struct data_set *set;
    size_t captioned = 0, len;
    struct err err;
    char *text;

    for (char **at = data; *at; at++) {
        set = data_open_or_die(*at, 0);
        data_protect_or_die(set, output);
        for (size_t i = 0; i < data_size(set); i++) {
            const char *caption = data_caption(set, i);

            text_merges_count(merges, caption, strlen(caption));
            captioned += *caption != 0;
        }
        data_close(set);
    }
    if (!captioned)
        die("'%s' has no captions to learn a vocabulary from", data[0]);
    text = text_merges_train(merges, (size_t)size, (size_t)min, &len);
    vocabulary = text_vocabulary_parse(text, len, &err);
    or_die(!vocabulary || file_write(path, text, len, &err), &err);
    log_message(
        "'%s': %zu tokens, from %zu distinct word%s in the captions of %zu "
        "sample%s",
        path, text_vocabulary_size(vocabulary), text_merges_words(merges),
        plural(text_merges_words(merges)), captioned, plural(captioned));
    text_vocabulary_free(vocabulary);
    text_merges_free(merges);
    free(text);
}
