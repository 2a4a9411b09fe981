#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data.h"
#include "data/index.h"
#include "image/codec.h"
#include "text/captions.h"
#include "util/mem.h"
#include "util/progress.h"
#include "util/stop.h"

enum { LOST = 10, NAMED = 8 }; // maximum classes in messages

static const char *output, *captions, *columns;
static int decode, skip_bad;
static long max_pixels = IMAGE_MAX_PIXELS, jobs;

const struct opt index_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "the index; PATH.foil by default"},
    {"bad", 0, OPT_CHOICE, &skip_bad, 0, 0, "refuse|skip",
     "what to do with a damaged image"},
    {"captions", 0, OPT_TEXT, &captions, 0, 0, "FILE",
     "a table of names and captions, instead of caption files"},
    {"columns", 0, OPT_TEXT, &columns, 0, 0, "SPEC",
     "columns of the table, or of file lists: name=A,label=B"},
    {"decode", 0, OPT_FLAG, &decode, 0, 0, NULL,
     "decode each image in full, not only its header: finds cut-off files"},
    {"jobs", 'j', OPT_WHOLE, &jobs, 0, 4096, "N",
     "make an index of each PATH, N at once, and join them; 0: one index"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    {0},
};

/* PATH.foil, without trailing slashes of PATH */
static char *
index_path(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return mem_format("%.*s.foil", (int)n, path);
}

/* Adds an input; with --jobs its process ends if the first has gone. */
static void
add_path(struct data_index *index, const char *path, pid_t parent)
{
    struct progress progress;
    struct err err;
    int got = data_index_add(index, path, &err);
    const int added = !got;

    if (!parent)
        progress_start(&progress, "images", (double)data_index_size(index), 0);
    while (!got && (got = data_index_next(index, &err)) > 0) {
        char done[32];

        got = 0;
        if (parent && getppid() != parent)
            _exit(EXIT_FAILED);
        if (parent)
            continue;
        snprintf(done, sizeof done, "%.0f%%", 100 * data_index_share(index));
        progress_show(&progress, (double)data_index_size(index), done);
    }
    if (!parent)
        progress_clear(&progress);
    if (got < 0)
        die("%s%s", err.msg,
            added && got != DATA_UNREAD ? " (--bad skip leaves out bad files)"
                                        : "");
}

/* Reports files that are not in the index, though they are not bad. */
static void
report_skipped(const struct data_index *index,
               const struct data_index_report *report)
{
    static const char *const what[2][2] = {
        {"files are no images", "file is no image"},
        {"images are not JPEG, PNG or WebP", "image is not JPEG, PNG or WebP"}};

    for (int pictures = 1; pictures >= 0; pictures--) {
        const struct data_index_skipped *of = &report->skipped[pictures];
        char *kinds = data_index_kinds(index, pictures);

        if (of->n)
            log_message("%zu %s: skipped (%s; such as '%s')", of->n,
                        what[pictures][of->n == 1], kinds, of->first);
        free(kinds);
    }
    for (size_t i = 0; i < report->n_lost && i < LOST; i++)
        log_message("class '%s' has no sound image: left out", report->lost[i]);
    if (report->n_lost > LOST)
        log_message("%zu more classes have none", report->n_lost - LOST);
}

/* "2 classes (test, train)", "10 classes (0 to 9)" */
static char *
name_classes(const struct data_index *index, size_t n)
{
    struct series names = {.most = NAMED};
    char *all, *text;

    if (n > 2 && !strcmp(data_index_class(index, 0), "0") &&
        strtoul(data_index_class(index, n - 1), NULL, 10) == n - 1)
        return mem_format("%zu classes (0 to %zu)", n, n - 1);
    for (size_t i = 0; i < n; i++)
        series_put(&names, data_index_class(index, i));
    all = series_end(&names);
    text = mem_format("%zu class%s (%s)", n, n == 1 ? "" : "es", all);
    free(all);
    return text;
}

/* Reports the files, if not all of them are samples. */
static void
report_files(const struct data_index_report *report)
{
    const size_t skipped = report->skipped[0].n + report->skipped[1].n;

    if (report->sidecars + skipped)
        log_message("%zu file%s: %zu image%s, %zu with captions or labels, %zu "
                    "skipped, %zu left out as bad",
                    report->files, plural(report->files), report->images,
                    plural(report->images), report->sidecars, skipped,
                    report->bad);
    else if (report->bad)
        log_message("%zu left out as bad", report->bad);
    if (report->hidden)
        log_message("%zu hidden, with a dot before the name: ignored",
                    report->hidden);
}

/* Reports how many rows of the table are not used, and the first of them. */
static void
report_rows(size_t n, const char *wrong, size_t line)
{
    if (n)
        log_message("%zu row%s of '%s' %s (such as line %zu): not used", n,
                    plural(n), captions, wrong, line);
}

static void
set_columns(struct data_index *index)
{
    struct err err;

    if (columns && data_index_columns(index, columns, &err))
        opt_misuse("--columns: %s", err.msg);
}

static void
read_captions(struct data_index *index)
{
    struct data_index_rows rows;
    struct err err;

    set_columns(index);
    or_die(data_index_table(index, captions, &rows, &err), &err);
    report_rows(rows.empty, "without a caption", rows.empty_line);
    report_rows(rows.unknown, "with a name that no sample has",
                rows.unknown_line);
    report_rows(rows.unclear, "with a name that several samples have",
                rows.unclear_line);
}

/* Reports the size and the classes of the index, and what it leaves out. */
static void
report_index(const struct data_index *index, const char *to, int several)
{
    const struct data_index_report report = data_index_report(index);
    const size_t n = report.images;
    char *classes = report.classes ? name_classes(index, report.classes)
                                   : mem_text("without labels");

    report_skipped(index, &report);
    if (report.captions.captioned && report.captions.captioned < n)
        log_message("samples without a caption: %zu of %zu",
                    n - report.captions.captioned, n);
    if (report.captions.cut)
        log_message("captions longer than %d bytes: %zu cut",
                    TEXT_CAPTION_BYTES, report.captions.cut);
    if (report.captions.many)
        log_message("captions beyond the first %d of a sample: %zu left out",
                    TEXT_CAPTIONS_MAX, report.captions.many);
    if (report.captions.repaired)
        log_message(
            "captions with bytes that are no UTF-8: %zu, replaced by U+FFFD",
            report.captions.repaired);
    if (report.captions.broken)
        log_message("files .json that are no JSON objects: %zu not used",
                    report.captions.broken);
    for (size_t i = 0; i < report.n_notes; i++)
        log_message("%s", report.note[i]);
    if (several && !report.classes)
        log_message(
            "no sample has a label: classes are the folders inside of each "
            "PATH, not the PATHs; to make these the classes, give the folder "
            "that contains them");
    report_files(&report);
    if (report.classes && report.unlabelled)
        log_message("'%s': %zu image%s, %s, %zu without a label", to, n,
                    plural(n), classes, report.unlabelled);
    else
        log_message("'%s': %zu image%s, %s", to, n, plural(n), classes);
    free(classes);
}

/* Makes the index `to` of paths, up to NULL; one process of --jobs makes one of
 * them, and reports only bad files. */
static void
make_index(char **path, const char *to, pid_t parent)
{
    const struct data_index_settings how = {.skip_bad = skip_bad,
                                            .decode = decode,
                                            .max_pixels = (size_t)max_pixels};
    struct data_index *index = data_index_new(&how);
    struct data_index_report report;
    struct err err;

    if (!captions)
        set_columns(index);
    for (char **at = path; *at; at++)
        add_path(index, *at, parent);
    if (captions)
        read_captions(index);
    report = data_index_report(index);
    for (size_t i = 0; i < report.n_complaints; i++)
        log_message("left out %s", report.complaint[i]);
    or_die(data_index_assign_labels(index, &err), &err);
    if (data_index_write(index, to, &err))
        die("%s%s", err.msg,
            output || !data_index_size(index)
                ? ""
                : " (-o FILE puts the index elsewhere)");
    if (!parent)
        report_index(index, to, path[1] != NULL);
    data_index_free(index);
}

/* Returns 1 if an index of a path is there, is younger, and fits it. */
static int
is_current(const char *path, const char *index)
{
    struct data_set *set = NULL;
    struct stat data, own;
    struct err err;
    int current =
        !stat(path, &data) && !stat(index, &own) &&
        (S_ISDIR(data.st_mode) || own.st_mtim.tv_sec > data.st_mtim.tv_sec ||
         (own.st_mtim.tv_sec == data.st_mtim.tv_sec &&
          own.st_mtim.tv_nsec > data.st_mtim.tv_nsec));

    if (current)
        set = data_open_parts(index, &err);
    current = set && !data_stale(set, &err) && data_reads(set, path);
    data_close(set);
    return current;
}

/* Waits for a process that makes an index; returns 1 if it failed. */
static int
wait_for_index(void)
{
    int status;

    while (wait(&status) < 0)
        if (errno != EINTR)
            die("cannot wait for a process: %s", strerror(errno));
    return !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_OK;
}

/* Makes the missing indexes next to n paths, and joins all. */
static void
index_and_join(char **path, size_t n, const char *to)
{
    struct data_join *join = data_join_new();
    const pid_t parent = getpid();
    struct progress progress;
    size_t running = 0, failed = 0;
    char **index = mem_array(n, sizeof *index);

    progress_start(&progress, "indexes", 0, (double)n);
    for (size_t i = 0; i < n; i++) {
        char *one[] = {path[i], NULL};
        pid_t child;

        index[i] = index_path(path[i]);
        refuse_overwriting(index[i]);
        if (is_current(path[i], index[i]))
            continue;
        if (running == (size_t)jobs) {
            failed += (size_t)wait_for_index();
            running--;
        }
        child = fork();
        if (child < 0)
            die("cannot start a process: %s", strerror(errno));
        if (!child) {
            stop_unblock();
            make_index(one, index[i], parent);
            _exit(EXIT_OK);
        }
        running++;
        progress_show(&progress, (double)(i + 1 - running), "");
    }
    for (; running; running--)
        failed += (size_t)wait_for_index();
    progress_clear(&progress);
    if (failed)
        die("%zu of %zu paths have no index, for the reasons above: mend these "
            "or leave them out, and run the command again",
            failed, n);
    for (size_t i = 0; i < n; i++) {
        join_add_or_die(join, index[i], NULL);
        free(index[i]);
    }
    join_write_or_die(join, to);
    free(index);
}

void
run_index(char **path)
{
    char *to = output ? mem_text(output) : index_path(path[0]);
    size_t n = 0;

    if (path[1] && !output)
        opt_misuse("several paths make one set: name its index with -o FILE");
    if (!strcmp(path[0], "-") && !output)
        opt_misuse("a list on standard input has no path: name its index with "
                   "-o FILE");
    if (jobs && (!output || captions))
        opt_misuse(captions ? "--captions wants one index: leave out -j"
                            : "name the list of indexes with -o FILE");
    refuse_overwriting(to);
    if (jobs) {
        path = read_operands(path, &n);
        index_and_join(path, n, to);
        free(path);
    } else {
        make_index(path, to, 0);
    }
    free(to);
}
