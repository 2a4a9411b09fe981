#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "stage/process.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

enum { WORDS = 16 };

static const double grace_s = 10; // for the tool, if we are killed

int
judge_run_tool(const struct judge *judge, const char *tool,
               const char *const *words)
{
    static const int quiet[] = {STAGE_NULL, STAGE_NULL};
    char *argv[WORDS + 1] = {mem_format("%s/%s", judge->bin, tool)};
    const struct stage_process_config config = {.argv = argv,
                                                .fd = quiet,
                                                .n_fd = 2,
                                                .signal = SIGTERM,
                                                .grace_s = grace_s};
    struct stage_process process;
    int n = 1, rc, status;

    for (; words[n - 1]; n++) {
        REQUIRE(n < WORDS);
        argv[n] = mem_text(words[n - 1]);
    }
    argv[n] = NULL;
    rc = stage_process_start(&process, &config);
    if (rc)
        die("cannot start '%s': %s", argv[0], strerror(rc));
    status = stage_process_wait(&process, judge->stop);
    while (n--)
        free(argv[n]);
    return stop_requested() ? -1 : !stage_process_code(status);
}
