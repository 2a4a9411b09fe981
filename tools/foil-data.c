#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/generate.h"
#include "data/index.h"
#include "data/jpeg.h"
#include "data/pack.h"
#include "data/set.h"
#include "data/source.h"
#include "data/split.h"
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

static long quality = 95, limit = 1L << 47, size = 32, seed = 1;
static const char *classes;
static int coarse;

static const struct opt import_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; must be given"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "of the JPEGs"},
    {"limit", 'n', OPT_WHOLE, &limit, 1, 1e14, "N", "take the first N images"},
    {"classes", 0, OPT_TEXT, &classes, 0, 0, "FILE",
     "names of the classes, one a line"},
    {"coarse", 0, OPT_FLAG, &coarse, 0, 0, NULL,
     "cifar100: the 20 coarse classes"},
    {0},
};

static const struct opt generate_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE", "the tar; must be given"},
    {"quality", 'q', OPT_WHOLE, &quality, 1, 100, "Q", "of the JPEGs"},
    {"size", 0, OPT_WHOLE, &size, 8, 4096, "N", "images are N x N"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of the random numbers"},
    {0},
};

static double share = .1;

static const struct opt split_opts[] = {
    {"share", 0, OPT_REAL, &share, 1e-6, 1 - 1e-6, "X",
     "of each class that PART gets"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of the random numbers"},
    {0},
};

static const struct opt no_opts[] = {{0}};

enum verb { INDEX, IMPORT, GENERATE, SPLIT, INFO, LIST };

static const struct opt_tool verbs[] = {
    [INDEX] = {"foil-data index", "make the index that other tools read by",
               "PATH ...", 1, 1 << 20, index_opts},
    [IMPORT] = {"foil-data import",
                "make a tar of JPEGs from the files of an older set",
                "FORM FILE ...", 2, 1 << 20, import_opts},
    [GENERATE] = {"foil-data generate",
                  "make a tar of labelled shapes and textures", "COUNT", 1, 1,
                  generate_opts},
    [SPLIT] = {"foil-data split",
               "divide a set at random, class by class, without a copy",
               "DATA PART REST", 3, 3, split_opts},
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
        char done[32];

        snprintf(done, sizeof done, "%.0f%%", 100 * data_index_share(index));
        progress_show(&progress, (double)data_index_size(index), done);
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
        opt_misuse("several paths make one set: name its index with -o FILE");
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

static const char *
wanted_output(void)
{
    if (!output)
        opt_misuse("name the tar with -o FILE");
    return output;
}

/* What an archive in the making needs at each image. */
struct making {
    struct data_pack *pack;
    struct data_bytes jpeg;
    struct progress progress;
    size_t done;
};

static void
start_making(struct making *making, size_t total)
{
    struct err err;

    *making = (struct making){.pack = data_pack_open(wanted_output(), &err)};
    if (!making->pack)
        die("%s", err.msg);
    watch_signals();
    progress_start(&making->progress, "images", 0, (double)total);
}

_Noreturn static void
give_up(struct making *making, const char *why)
{
    progress_clear(&making->progress);
    data_pack_drop(making->pack);
    die("%s", why);
}

static void
add_file(struct making *making, const char *name, const void *bytes, size_t len)
{
    struct err err;

    if (data_pack_add(making->pack, name, bytes, len, &err))
        give_up(making, err.msg);
}

static void
add_jpeg(struct making *making, const char *name,
         const struct data_picture *picture)
{
    struct err err;

    if (stop_asked())
        give_up(making, "stopped: no tar is written");
    if (data_jpeg_encode(picture->pixel, picture->width, picture->height,
                         picture->channels, (int)quality, &making->jpeg, &err))
        give_up(making, err.msg);
    add_file(making, name, making->jpeg.data, making->jpeg.len);
    making->done++;
    progress_show(&making->progress, (double)making->done, "");
}

static void
finish_making(struct making *making)
{
    struct err err;

    progress_clear(&making->progress);
    if (!making->done)
        give_up(making, "there is no image to import");
    if (data_pack_keep(making->pack, &err))
        die("%s", err.msg);
    say("'%s': %zu images", output, making->done);
    data_bytes_release(&making->jpeg);
}

static enum data_form
form_of(const char *name)
{
    static const char *const forms[] = {[DATA_IDX] = "idx",
                                        [DATA_CIFAR10] = "cifar10",
                                        [DATA_CIFAR100] = "cifar100",
                                        [DATA_STL10] = "stl10"};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (!strcmp(name, forms[i]))
            return (enum data_form)i;
    opt_misuse("FORM '%s': want one of idx, cifar10, cifar100, stl10", name);
}

static void
run_import(char **operand)
{
    struct data_source_how how = {.form = form_of(operand[0]),
                                  .file = operand + 1,
                                  .coarse = coarse,
                                  .classes = classes};
    struct data_source *source;
    struct data_picture picture;
    struct making making;
    struct err err;
    size_t n;
    int got;

    while (operand[1 + how.files])
        how.files++;
    wanted_output();
    source = data_source_open(&how, &err);
    if (!source)
        die("%s", err.msg);
    n = data_source_size(source);
    start_making(&making, n < (size_t)limit ? n : (size_t)limit);
    while (making.done < (size_t)limit &&
           (got = data_source_next(source, &picture, &err)) != 0) {
        char name[128];

        if (got < 0)
            give_up(&making, err.msg);
        snprintf(name, sizeof name, "%s%s%05zu.jpg",
                 picture.class ? picture.class : "", picture.class ? "/" : "",
                 making.done);
        add_jpeg(&making, name, &picture);
    }
    finish_making(&making);
    data_source_close(source);
}

static void
run_generate(const char *count)
{
    size_t side = (size_t)size, n = (size_t)opt_whole("COUNT", count, 1, 1e9);
    uint8_t *pixel = mem_array(side * side * 3, 1);
    struct data_picture picture = {pixel, side, side, 3, NULL};
    struct making making;

    start_making(&making, n);
    for (size_t i = 0; i < n; i++) {
        char caption[DATA_GENERATE_CAPTION], text[8], name[32];
        int label = data_generate((uint64_t)seed, i, side, pixel, caption);

        snprintf(text, sizeof text, "%d", label);
        snprintf(name, sizeof name, "%06zu.cls", i);
        add_file(&making, name, text, strlen(text));
        snprintf(name, sizeof name, "%06zu.jpg", i);
        add_jpeg(&making, name, &picture);
        snprintf(name, sizeof name, "%06zu.txt", i);
        add_file(&making, name, caption, strlen(caption));
    }
    finish_making(&making);
    free(pixel);
}

static void
write_subset(const struct data_set *set, const uint8_t *in_part, uint8_t which,
             const char *path)
{
    struct err err;

    if (data_subset(set, in_part, which, path, &err))
        die("%s", err.msg);
}

static void
run_split(char **operand)
{
    struct data_set *set = open_set(operand[0]);
    uint8_t *in_part = mem_array(data_size(set), 1);

    data_split(set, share, (uint64_t)seed, in_part);
    write_subset(set, in_part, 1, operand[1]);
    write_subset(set, in_part, 0, operand[2]);
    free(in_part);
    data_close(set);
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
    case IMPORT:
        run_import(operand);
        break;
    case GENERATE:
        run_generate(operand[0]);
        break;
    case SPLIT:
        run_split(operand);
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
