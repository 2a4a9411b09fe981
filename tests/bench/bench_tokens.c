#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/set.h"
#include "text/captions.h"
#include "text/merges.h"
#include "util/mem.h"
#include "util/opt.h"

/*
 * bench_tokens DATA COUNT: processor seconds to train a vocabulary of up to
 * 8,192 tokens on the first captions of all samples, then to turn COUNT
 * captions, the lines of the samples again and again, into rows of 32 tokens,
 * and how many tokens a row has.
 */
enum { CONTEXT = 32, SIZE = 8192 };

/* All lines of all captions; a zero byte ends each. */
struct lines {
    char *text;
    const char **line; /* [n] */
    size_t n, room, len, text_room;
};

static void
add_lines(struct lines *lines, const char *caption)
{
    const size_t n = strlen(caption) + 1;

    mem_grow(&lines->text, &lines->text_room, lines->len + n, 1);
    memcpy(lines->text + lines->len, caption, n);
    for (size_t i = 0; i < n; i++)
        if (lines->text[lines->len + i] == '\n')
            lines->text[lines->len + i] = 0;
    lines->len += n;
}

static struct lines
read_lines(const struct data_set *set)
{
    struct lines lines = {.n = 0};

    for (size_t i = 0; i < data_size(set); i++)
        if (*data_caption(set, i))
            add_lines(&lines, data_caption(set, i));
    for (size_t at = 0; at < lines.len; at += strlen(lines.text + at) + 1) {
        mem_grow(&lines.line, &lines.room, lines.n + 1, sizeof *lines.line);
        lines.line[lines.n++] = lines.text + at;
    }
    return lines;
}

static double
seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static char *
train(const struct data_set *set, size_t *len)
{
    struct text_merges *merges = text_merges_new();
    char *text;

    for (size_t i = 0; i < data_size(set); i++) {
        const char *caption = data_caption(set, i);

        text_merges_count(merges, caption, strcspn(caption, "\n"));
    }
    text = text_merges_train(merges, SIZE, 2, len);
    text_merges_free(merges);
    return text;
}

int
main(int argc, char **argv)
{
    struct text_vocabulary *vocabulary;
    struct data_set *set;
    struct lines lines;
    struct err err;
    int32_t row[CONTEXT];
    const struct text_captions_settings how = {.context = CONTEXT};
    size_t count, len, tokens = 0;
    double start, trained;
    char *text;

    if (argc != 3)
        die("see the head of bench_tokens.c");
    set = data_open(argv[1], &err);
    if (!set)
        die("%s", err.msg);
    start = seconds();
    text = train(set, &len);
    trained = seconds() - start;
    vocabulary = text_vocabulary_parse(text, len, &err);
    lines = read_lines(set);
    if (!vocabulary || !lines.n)
        die("%s", vocabulary ? "there are no captions" : err.msg);
    count = strtoul(argv[2], NULL, 10);
    start = seconds();
    for (size_t i = 0; i < count; i++) {
        const char *line = lines.line[i % lines.n];

        tokens += text_captions_row(line, 0, 0, &how, 0, 0, vocabulary, row);
    }
    printf("%.4f %.4f %.3f\n", trained, seconds() - start,
           (double)tokens / (double)(count ? count : 1));
    free(text);
    free(lines.text);
    free(lines.line);
    text_vocabulary_free(vocabulary);
    data_close(set);
    return 0;
}
