#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval.h"
#include "eval/column.h"
#include "run/results.h"
#include "stage/process.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"
#include "util/stop.h"
#include "util/table.h"
#include "util/terminal.h"

struct common common_options;

const struct opt labels_opts[] = {
    {"labels", 0, OPT_TEXT, &common_options.labels[0], 0, 0, "FILE",
     "labels of TRAIN, instead of its .labels.npy"},
    {"test-labels", 0, OPT_TEXT, &common_options.labels[1], 0, 0, "FILE",
     "labels of TEST, instead of its .labels.npy"},
    {0},
};
const struct opt plot_opts[] = {
    {"plot", 0, OPT_TEXT, &common_options.plot, 0, 0, "FILE",
     "draw as PNG, and save the script"},
    {0},
};
const struct opt threads_opts[] = {
    {"threads", 0, OPT_WHOLE, &common_options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    {0},
};
const struct opt output_opts[] = {
    {"json", 0, OPT_FLAG, &common_options.json, 0, 0, NULL,
     "print lines of JSON, also on a terminal"},
    {"no-record", 0, OPT_FLAG, &common_options.no_record, 0, 0, NULL,
     "do not add the result to RUN/results.jsonl"},
    {0},
};

size_t
read_list(const char *option, const char *text, long least, long most,
          const char *range, size_t list[LIST_MOST])
{
    const char *at = text;
    size_t n = 0;

    while (n < LIST_MOST) {
        char *end;
        long x;

        errno = 0;
        x = strtol(at, &end, 10);
        if (end == at || (*end && *end != ',') || errno || x < least ||
            x > most)
            break;
        list[n++] = (size_t)x;
        at = end + (*end == ',');
        if (!*at)
            return n;
    }
    opt_misuse("option '--%s': '%s' is no list of at most %d numbers %s, "
               "separated by commas",
               option, text, LIST_MOST, range);
}

void
load(struct data_features *f, const char *path, const char *label_path)
{
    struct err err;

    or_die(data_features_read(f, path, &err), &err);
    if (!label_path)
        return;
    free(f->labels);
    data_classes_release(&f->classes); // names of other labels
    f->labels = data_labels_read(label_path, f->n, &err);
    or_die(!f->labels, &err);
}

json_t *
origin(const char *path, const struct data_features *f)
{
    struct digest digest = digest_bytes(f->x, f->n * f->d * sizeof *f->x);
    char hex[DIGEST_HEX];

    return json_pack("{s:s s:I s:s s:O*}", "file", path, "n", (json_int_t)f->n,
                     "digest", digest_hex(digest, hex), "made", f->about);
}

const char *
class_name(const struct data_classes *names, int64_t class, char text[24])
{
    if (class >= 0 && (uint64_t) class < names->n)
        return names->name[class];
    snprintf(text, 24, "%jd", (intmax_t) class);
    return text;
}

int64_t *
shuffled_rows(size_t n, long seed)
{
    int64_t *order = mem_array(n, sizeof *order);
    struct rng rng;

    for (size_t i = 0; i < n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, (uint64_t)seed, RNG_SPLIT, 0, 0, 0);
    rng_shuffle(&rng, n, order);
    return order;
}

double *
describe_numbers(json_t *object, size_t n, const double *x)
{
    double *sorted = mem_array(n, sizeof *sorted), mean = 0, square = 0;

    REQUIRE(n);
    memcpy(sorted, x, n * sizeof *sorted);
    eval_sort(n, sorted);
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    json_object_set_new(object, "mean", json_real(mean));
    json_object_set_new(object, "deviation", json_real(sqrt(square)));
    return sorted;
}

static struct table table; // for a terminal, unless --json is set

/* Writes a JSON name as words: train_accuracy becomes "train accuracy". */
static void
write_words(const char *name, char words[64])
{
    snprintf(words, 64, "%s", name);
    for (char *at = words; *at; at++)
        if (*at == '_')
            *at = ' ';
}

/* Writes a number or a word; 0 for lists, which tables leave out. */
static int
write_figure(const json_t *value, char text[64])
{
    const double x = json_number_value(value);

    if (json_is_integer(value))
        snprintf(text, 64, "%jd", (intmax_t)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, 64,
                 x == 0 || (fabs(x) >= 1e-3 && fabs(x) < 1e6) ? "%.4f" : "%.3g",
                 x);
    else if (json_is_string(value))
        snprintf(text, 64, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, 64, "%s", json_is_true(value) ? "yes" : "no");
    else
        return 0;
    return 1;
}

/* Puts a result into a row, and its parts, such as both directions of a
 * retrieval, into rows below. */
static void
put_result(json_t *result, const char *part)
{
    const char *name;
    json_t *value;
    char words[64], text[64];

    table_row(&table);
    if (part)
        table_put(&table, "measure", "%s", part);
    json_object_foreach(result, name, value)
    {
        write_words(name, words);
        if (write_figure(value, text))
            table_put(&table, words, "%s", text);
    }
    json_object_foreach(result, name, value)
    {
        write_words(name, words);
        if (json_is_object(value))
            put_result(value, words);
    }
}

/* Finds the object "encoder" at any depth of a line: 1 with it in *found, 0 if
 * there is none, -1 if there are different ones. */
static int
find_encoder(const json_t *line, const json_t **found)
{
    const json_t *own = json_object_get(line, "encoder"), *item;
    const char *name;
    int rc = *found != NULL;
    size_t i;

    if (own) {
        if (*found && !json_equal(json_object_get(own, "manifest"),
                                  json_object_get(*found, "manifest")))
            return -1;
        *found = own;
        return 1;
    }
    json_object_foreach((json_t *)line, name, item)
    {
        if (rc >= 0)
            rc = find_encoder(item, found);
    }
    json_array_foreach(line, i, item)
    {
        if (rc >= 0)
            rc = find_encoder(item, found);
    }
    return rc;
}

/* Adds the line to the results of its run; errors are only reported. */
static void
record_line(const json_t *line)
{
    const json_t *encoder = NULL;
    struct err err = {""};
    char *run;
    long step;
    int rc;

    if (find_encoder(line, &encoder) <= 0)
        return;
    rc = run_results_origin(encoder, &run, &step, &err);
    if (rc > 0) {
        rc = run_results_add(
            run, step, json_string_value(json_object_get(encoder, "manifest")),
            line, &err);
        free(run);
    }
    if (rc < 0)
        log_message("the result is not recorded: %s", err.msg);
}

void
print(json_t *result, json_t *protocol)
{
    const int terminal =
        !common_options.json && terminal_size(STDOUT_FILENO, NULL);

    REQUIRE(result && protocol);
    if (terminal)
        put_result(result, NULL);
    json_object_update(result, protocol);
    json_object_set_new(result, "version", json_string(FOIL_VERSION));
    json_decref(protocol);
    if (!common_options.no_record)
        record_line(result);
    if (terminal)
        json_decref(result);
    else
        json_print(result);
}

void
print_end(void)
{
    table_print(&table, table.columns > 0, terminal_size(STDOUT_FILENO, NULL),
                stdout);
    table_release(&table);
}

void
plot(struct plot *script, const char *picture)
{
    struct err err;

    or_die(plot_draw(script, picture, &err), &err);
}

enum { WORDS = 16 };              // of a command line
static const double grace_s = 10; // for a tool, if we are killed

int
run_tool(int stop, const char *tool, const char *const *words)
{
    static const int quiet[] = {STAGE_NULL, STAGE_NULL};
    struct err err;
    char *folder = file_own_folder(&err);
    char *argv[WORDS + 1] = {folder ? mem_format("%s/%s", folder, tool) : NULL};
    const struct stage_process_config config = {.argv = argv,
                                                .fd = quiet,
                                                .n_fd = 2,
                                                .signal = SIGTERM,
                                                .grace_s = grace_s};
    struct stage_process process;
    int rc, status;

    or_die(!folder, &err);
    for (int n = 1; words[n - 1]; n++) {
        REQUIRE(n < WORDS);
        argv[n] = (char *)words[n - 1];
    }
    rc = stage_process_start(&process, &config);
    if (rc)
        die("cannot start '%s': %s", argv[0], strerror(rc));
    status = stage_process_wait(&process, stop);
    mem_free(argv[0], folder);
    return stop_requested() ? -1 : !stage_process_code(status);
}

int
embed_both(int stop, const char *checkpoint, const char *const data[2],
           int captions, int average, long threads, char *const output[2])
{
    char *number = mem_format("%ld", threads);
    int rc = 1;

    for (int i = 0; i < 2 && rc > 0; i++) {
        const char *words[10] = {"-o",
                                 output[i],
                                 "--threads",
                                 number,
                                 captions ? "--layer=z" : "--layer=h",
                                 checkpoint,
                                 data[i]};
        size_t n = 7;

        if (captions && i)
            words[n++] = "--captions";
        if (average)
            words[n++] = "--average";
        rc = run_tool(stop, "foil-embed", words);
    }
    free(number);
    return rc;
}
