#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/index.h"
#include "data/jpeg.h"
#include "data/set.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"
#include "util/stop.h"

static const char *output, *bad = "refuse";
static int decode;
static long max_pixels = DATA_MAX_PIXELS;

static const struct opt index_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the index; else PATH.foil beside the data"},
    {"bad", 0, OPT_CHOICE, &bad, 0, 0, "refuse|skip",
     "what to do about a file that is no sound JPEG"},
    {"decode", 0, OPT_FLAG, &decode, 0, 0, NULL,
     "decode all of each image, not the header alone"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "refuse images with more"},
    {0},
};

static const struct opt no_opts[] = {{0}};

enum verb { INDEX, INFO, LIST };

static const struct opt_tool verbs[] = {
    [INDEX] = {"foil-data index", "make the index that other tools read by",
               "PATH ...", 1, 1 << 20, index_opts},
    [INFO] = {"foil-data info", "tell size, classes and digest", "DATA", 1, 1,
              no_opts},
    [LIST] = {"foil-data list", "list the samples as a table", "DATA", 1, 1,
              no_opts},
    {0},
};

static const struct opt_tool tool = {
    .name = "foil-data",
    .summary = "make, import, index, split and list data sets",
};

static void
watch_signals(void)
{
    struct err err;

    if (stop_fd(&err) < 0)
        die("%s", err.msg);
}

static struct data_set *
open_set(const char *path)
{
    struct err err;
    struct data_set *set = data_open(path, &err);

    if (!set)
        die("%s", err.msg);
    return set;
}

/* PATH.foil, without the slashes behind the name of a folder */
static char *
beside(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return mem_format("%.*s.foil", (int)n, path);
}

static void
take_in(struct data_index *index, const char *path)
{
    struct progress progress;
    struct err err;
    int got = data_index_add(index, path, &err);

    progress_start(&progress, "images", (double)data_index_size(index), 0);
    while (!got && (got = data_index_next(index, &err)) > 0 && !stop_asked()) {
        char share[32];

        snprintf(share, sizeof share, "%.0f%%", 100 * data_index_share(index));
        progress_show(&progress, (double)data_index_size(index), share);
        got = 0;
    }
    progress_clear(&progress);
    if (got < 0)
        die("%s", err.msg);
    if (got)
        die("stopped: no index is written");
}

static void
run_index(char **path)
{
    struct data_index_how how = {.skip_bad = !strcmp(bad, "skip"),
                                 .decode = decode,
                                 .max_pixels = (size_t)max_pixels};
    struct data_index *index = data_index_new(&how);
    char *place = output ? mem_text(output) : beside(path[0]);
    struct err err;

    if (path[1] && !output)
        opt_misuse("several paths make one set: name its index with -o");
    watch_signals();
    for (char **at = path; *at; at++)
        take_in(index, *at);
    for (size_t i = 0; data_index_complaint(index, i); i++)
        say("left out %s", data_index_complaint(index, i));
    if (data_index_write(index, place, &err))
        die("%s%s", err.msg,
            output || !data_index_size(index)
                ? ""
                : " (-o FILE puts the index elsewhere)");
    say("'%s': %zu samples, %zu left out as bad", place, data_index_size(index),
        data_index_bad(index));
    data_index_free(index);
    free(place);
}

struct range {
    size_t min, max;
};

static void
widen(struct range *range, size_t x)
{
    range->min = x < range->min ? x : range->min;
    range->max = x > range->max ? x : range->max;
}

static void
run_info(const char *path)
{
    struct data_set *set = open_set(path);
    struct range width = {SIZE_MAX, 0}, height = width;
    struct digest digest = data_digest(set);
    size_t bytes = 0, captions = 0;
    char hex[DIGEST_HEX];

    for (size_t i = 0; i < data_size(set); i++) {
        bytes += data_length(set, i);
        captions += *data_caption(set, i) != 0;
        widen(&width, data_width(set, i));
        widen(&height, data_height(set, i));
    }
    printf("samples\t%zu\nclasses\t%zu\n", data_size(set), data_classes(set));
    printf("captions\t%zu\nbytes\t%zu\n", captions, bytes);
    printf("width\t%zu\t%zu\nheight\t%zu\t%zu\n", width.min, width.max,
           height.min, height.max);
    printf("digest\t%s\n", digest_hex(&digest, hex));
    data_close(set);
}

/* A text as one cell of a table. */
static void
print_cell(const char *text)
{
    putchar('\t');
    for (; *text; text++)
        if (*text == '\n')
            fputs("\\n", stdout);
        else if (*text == '\t')
            fputs("\\t", stdout);
        else if (*text == '\\')
            fputs("\\\\", stdout);
        else
            putchar(*text);
}

static void
run_list(const char *path)
{
    struct data_set *set = open_set(path);

    puts("id\tlabel\tclass\tbytes\twidth\theight\tname\tcaption");
    for (size_t i = 0; i < data_size(set) && !ferror(stdout); i++) {
        int label = data_label(set, i);

        printf("%zu\t%d", i, label);
        print_cell(label < 0 ? "" : data_class_name(set, (size_t)label));
        printf("\t%zu\t%zu\t%zu", data_length(set, i), data_width(set, i),
               data_height(set, i));
        print_cell(data_name(set, i));
        print_cell(data_caption(set, i));
        putchar('\n');
    }
    data_close(set);
}

int
main(int argc, char **argv)
{
    char **operand;

    switch (opt_verb(&tool, verbs, argc, argv, &operand) - verbs) {
    case INDEX:
        run_index(operand);
        break;
    case INFO:
        run_info(operand[0]);
        break;
    case LIST:
        run_list(operand[0]);
        break;
    }
    close_stdout();
    return EXIT_OK;
}
