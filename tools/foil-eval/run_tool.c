#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "stage/process.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/stop.h"

enum { WORDS = 16 };

static const double grace_s = 10; // for the tool, if we are killed

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

    if (!folder)
        die("%s", err.msg);
    for (int n = 1; words[n - 1]; n++) {
        REQUIRE(n < WORDS);
        argv[n] = (char *)words[n - 1];
    }
    rc = stage_process_start(&process, &config);
    if (rc)
        die("cannot start '%s': %s", argv[0], strerror(rc));
    status = stage_process_wait(&process, stop);
    free(argv[0]);
    free(folder);
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
