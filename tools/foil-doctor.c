/*
 * foil-doctor: what this machine offers to a run and what is missing, and how
 * long an epoch of a data set would take.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "foil-doctor/report.h"
#include "num/dnn.h"
#include "num/room.h"
#include "num/threads.h"
#include "util/file.h"
#include "util/isa.h"
#include "util/limits.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

NUM_ROOM_FIRST

/* Least memory and space on the disk, in bytes, and open files of a run. */
static const double least_memory = 512e6, least_disk = 200e6;
enum { LEAST_FILES = 128 };

static const struct opt opts[] = {{0}};

static const struct opt_tool tool = {
    "foil-doctor", "check what a run needs on this machine", "[DATA]", 0, 1,
    opts,
};

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
        {"chromium", "tests of the page alone", "chromium"},
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
    free(path);
    free(here);
    free(missing);
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

int
main(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    const char *base = getenv("TMPDIR");
    char *made = mem_format("%s/foil-XXXXXX", base ? base : "/tmp");
    struct err err;
    int stop;

    check_machine();
    if (operand[0] && !refusal()) {
        fflush(stdout);
        stop = stop_fd(&err);
        or_die(stop < 0, &err);
        if (!mkdtemp(made))
            die("cannot make a folder '%s': %s", made, strerror(errno));
        check_data(operand[0], made, stop);
        if (file_remove(made, &err))
            log_message("%s", err.msg);
    }
    free(made);
    close_stdout();
    if (refusal())
        die("no run can start: %s", refusal());
    return EXIT_OK;
}
