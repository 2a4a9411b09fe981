/* foil-doctor: what this machine offers to a run and what is missing, and how
 * long an epoch of a data set would take. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "data/set.h"
#include "num/dnn.h"
#include "num/room.h"
#include "num/threads.h"
#include "run/metrics.h"
#include "stage/process.h"
#include "util/file.h"
#include "util/isa.h"
#include "util/limits.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "util/value.h"

NUM_ROOM_FIRST

/* Least memory and space on the disk, in bytes, and open files of a run. */
static const double least_memory = 512e6, least_disk = 200e6;
enum { LEAST_FILES = 128 };

static const struct opt opts[] = {{0}};

static const struct opt_tool tool = {
    "foil-doctor", "check what a run needs on this machine", "[DATA]", 0, 1,
    opts,
};

static char *fault; // the first reason why no run can start, or NULL

static void __attribute__((format(printf, 1, 2)))
refuse_run(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!fault)
        fault = mem_format_list(fmt, ap);
    va_end(ap);
}

static void __attribute__((format(printf, 2, 3)))
print_row(const char *name, const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    opt_row(stdout, name, text);
    free(text);
}

/* Returns a field of /proc/meminfo in bytes, 0 if there is none. */
static double
memory_field(const char *name)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kib = 0;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, strlen(name)))
            kib = strtod(line + strlen(name) + 1, NULL);
    if (file)
        fclose(file);
    return kib * 1024;
}

static void
check_processor(void)
{
    static const char *const uses[UTIL_ISAS] = {"SSE2", "AVX2 and FMA",
                                                "AVX-512"};
    const enum util_isa isa = util_isa(), most = util_isa_most();
    const int cores = num_threads(0);

    print_row("processor", "%d core%s for foil", cores, cores > 1 ? "s" : "");
    print_row("instructions", "%s (%s)%s%s%s", util_isa_name(isa), uses[isa],
              isa < most ? "; FOIL_ISA or ONEDNN_MAX_CPU_ISA limits " : "",
              isa < most ? util_isa_name(most) : "",
              num_dnn_bf16_faster() ? "; bfloat16 is faster than float" : "");
}

static void
check_memory(void)
{
    const double all = memory_field("MemTotal");
    const double available = memory_field("MemAvailable");

    print_row("memory", "%.1f GB, %.1f GB available", all / 1e9,
              available / 1e9);
    if (available > 0 && available < least_memory)
        refuse_run(
            "a run needs %.1f GB of memory, and %.1f GB are available: end "
            "other programs",
            least_memory / 1e9, available / 1e9);
}

/* A folder's free space; a run needs that of "." only. */
static void
check_disk(const char *folder, const char *name)
{
    struct statvfs disk;
    double space;

    if (statvfs(folder, &disk)) {
        print_row(name, "missing: %s", strerror(errno));
        return;
    }
    space = (double)disk.f_bavail * (double)disk.f_frsize;
    print_row(name, "%.1f GB free%s", space / 1e9,
              access(folder, W_OK) ? ", not writable" : "");
    if (*folder == '/')
        return;
    if (access(folder, W_OK))
        refuse_run(
            "this folder cannot be written: change to another, or name one "
            "by -r RUN");
    else if (space < least_disk)
        refuse_run(
            "a run needs %.1f GB of disk, and %.1f GB are free here: name "
            "another folder by -r RUN",
            least_disk / 1e9, space / 1e9);
}

static void
check_files(void)
{
    const unsigned long files = nofile_raise();

    print_row("open files", "%lu for a process (ulimit -Hn)", files);
    if (files < LEAST_FILES)
        refuse_run("a process may open %lu files, and a stage needs %d: raise "
                   "ulimit -n",
                   files, LEAST_FILES);
}

static void
check_programs(void)
{
    static const struct {
        const char *name, *use, *package;
    } programs[] = {
        {"jq", "pipelines and studies", "jq"},
        {"gnuplot", "curves as PNG, the demo's pictures", "gnuplot-nox"},
        {"man", "'foil help'", "man-db"},
        {"mpirun", "--ranks", "openmpi-bin"},
        {"foil-train-mpi", "--ranks", "foil-mpi"},
        {"chromium", "only the tests of the page", "chromium"},
    };

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (file_is_command(programs[i].name))
            print_row(programs[i].name, "here, for %s", programs[i].use);
        else
            print_row(programs[i].name, "missing, for %s: package %s",
                      programs[i].use, programs[i].package);
}

static void
check_python(void)
{
    FILE *python = popen("python3 -c '\n"
                         "import sys\n"
                         "from importlib.util import find_spec\n"
                         "print(sys.executable, 0)\n"
                         "for name in \"zmq\", \"msgpack\", \"numpy\", "
                         "\"torch\":\n"
                         "    print(name, bool(find_spec(name)))' 2>/dev/null",
                         "r");
    char name[256], is[8];
    char *path = NULL, *here = NULL, *missing = NULL;

    while (python && fscanf(python, "%255s %7s", name, is) == 2)
        mem_append(*is == '0'           ? &path
                   : strcmp(is, "True") ? &missing
                                        : &here,
                   " %s", name);
    if (python)
        pclose(python);
    print_row("python3", "%s%s, for stages of your own%s%s%s%s",
              path ? "here as" : "missing", path ? path : "",
              here ? "; with" : "", here ? here : "",
              missing ? "; without" : "", missing ? missing : "");
    mem_free(path, here, missing);
}

static void
check_machine(void)
{
    char *libraries = num_libraries();

    check_processor();
    check_memory();
    check_disk(".", "disk here");
    check_disk("/dev/shm", "/dev/shm");
    check_files();
    print_row("libraries", "%s", libraries);
    check_programs();
    check_python();
    free(libraries);
}

enum { STEPS = 4 }; // of the trial; the first one is not counted
enum { FEW_IMAGES = 500 };

/* Prints the last line of a file of messages as the reason. */
static void
refuse_by_log(const char *log)
{
    struct err err;
    size_t len;
    char *text = file_read(log, 1 << 20, &len, &err), *line;

    while (text && len && text[len - 1] == '\n')
        text[--len] = 0;
    line = text ? strrchr(text, '\n') : NULL;
    refuse_run("%s", text ? (line ? line + 1 : text) : err.msg);
    free(text);
}

/* Runs a command with its output in a file; returns 0 if it succeeded. */
static int
run_command(char *const *argv, const char *log, int stop)
{
    const int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const struct stage_process_config config = {
        .argv = argv,
        .fd = (const int[]){STAGE_NULL, to, to},
        .n_fd = 3,
        .signal = SIGTERM,
        .grace_s = 10,
    };
    struct stage_process process;
    int rc;

    if (to < 0)
        die("cannot create '%s': %s", log, strerror(errno));
    rc = stage_process_start(&process, &config);
    if (rc)
        die("cannot run '%s': %s", argv[0], strerror(rc));
    rc = stage_process_wait(&process, stop);
    close(to);
    if (stop_requested())
        refuse_run("stopped");
    else if (rc)
        refuse_by_log(log);
    return rc;
}

/* Returns the images in a second between the first and the last step of a run,
 * 0 if it has fewer than two. */
static double
rate_of(const char *run)
{
    struct run_metrics metrics = {0};
    double images[2] = {0}, time[2] = {0};

    for (int steps = 0; run_metrics_next(&metrics, run); steps++) {
        images[steps > 0] = value_find(metrics.value, metrics.n, "images");
        time[steps > 0] = value_find(metrics.value, metrics.n, "time");
    }
    run_lines_release(&metrics.lines);
    return time[1] > time[0] ? (images[1] - images[0]) / (time[1] - time[0])
                             : 0;
}

/* Trains some steps, and prints how long an epoch takes. */
static void
try_run(const struct data_set *set, const char *data, const char *temp,
        const char *log, int stop)
{
    char *run = mem_keep_format("%s/run", temp);
    char *argv[] = {
        mem_keep_format("foil"),         mem_keep_format("run"),
        mem_keep_format("fast"),         mem_keep_format("%s", data),
        mem_keep_format("-r"),           run,
        mem_keep_format("--steps"),      mem_keep_format("%d", STEPS),
        mem_keep_format("--no-compare"), NULL};
    double rate, seconds;

    if (!run_command(argv, log, stop)) {
        rate = rate_of(run);
        seconds = rate > 0 ? (double)data_size(set) / rate : 0;
        print_row(
            "an epoch",
            "%.3g s by 'foil run fast', %.3g images in a second, measured "
            "in %d steps now; its 100 epochs: %.2g hours",
            seconds, rate, STEPS - 1, seconds * 100 / 3600);
    }
}

static void
check_set(const struct data_set *set, const char *data, const char *temp,
          const char *log, int stop)
{
    const size_t n = data_size(set), classes = data_classes(set);
    struct data_facts facts;
    struct err err;

    print_row("images", "%zu%s", n,
              n < FEW_IMAGES ? "; below about 500 a pretrained encoder is "
                               "better"
                             : "");
    if (classes)
        print_row("labels", "%zu classes, for evaluations", classes);
    else
        print_row("labels", "none: training needs none, evaluation by classes "
                            "does");
    if (data_facts(set, &facts, &err))
        refuse_run("%s", err.msg);
    if (facts.captions)
        print_row("captions", "here: 'foil run clip' trains on them");
    if (data_stale(set, &err))
        refuse_run("%s", err.msg);
    else if (n < 2)
        refuse_run("a run needs two images or more");
    else
        try_run(set, data, temp, log, stop);
}

/* Prints the size of a data set and the seconds of an epoch, which it measures
 * by some steps of a pipeline.  temp: a folder for an index, if the data have
 * none, and for the run; stop: when this descriptor is readable, the steps end.
 */
static void
check_data(char *path, const char *temp, int stop)
{
    char *log = mem_keep_format("%s/log", temp);
    char *made_index = mem_keep_format("%s/data.foil", temp);
    char *argv[] = {mem_keep_format("foil"),
                    mem_keep_format("data"),
                    mem_keep_format("index"),
                    mem_keep_format("-o"),
                    made_index,
                    path,
                    NULL};
    const char *data = path;
    struct err err;
    struct data_set *set = data_open(path, &err);

    if (!set && !file_exists(path))
        refuse_run("%s", err.msg);
    else if (!set && !run_command(argv, log, stop))
        set = data_open(data = made_index, &err);
    if (set)
        check_set(set, data, temp, log, stop);
    else
        refuse_run("%s", err.msg);
    data_close(set);
}

int
main(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    const char *base = getenv("TMPDIR");
    char *temp = mem_format("%s/foil-XXXXXX", base ? base : "/tmp");
    struct err err;
    int stop;

    check_machine();
    if (operand[0] && !fault) {
        fflush(stdout);
        stop = stop_fd(&err);
        or_die(stop < 0, &err);
        if (!mkdtemp(temp))
            die("cannot make a folder '%s': %s", temp, strerror(errno));
        check_data(operand[0], temp, stop);
        if (file_remove(temp, &err))
            log_message("%s", err.msg);
    }
    free(temp);
    close_stdout();
    if (fault)
        die("no run can start: %s", fault);
    return EXIT_OK;
}
