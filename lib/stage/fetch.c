#include <math.h>
#include <signal.h>
#include <string.h>

#include "data/fetch.h"
#include "stage/fetch.h"
#include "stage/process.h"

/* See struct data_fetch_settings.  Its output goes to stderr: stdout may be
 * data. */
static int
run_fetch(char *const argv[], int stop)
{
    const int fd[] = {STAGE_NULL, 2, STAGE_INHERIT};
    const struct stage_process_config config = {.argv = argv,
                                                .fd = fd,
                                                .n_fd = 3,
                                                .ask = STAGE_TERMINATE_GROUP,
                                                .signal = SIGTERM,
                                                .grace_s = 0.1};
    struct stage_process process = {0};

    if (stage_process_start(&process, &config))
        return 127;
    return stage_process_code(stage_process_wait(&process, stop));
}

struct stage_fetch stage_fetch = {.gib = NAN, .jobs = 4};

void
stage_fetch_use(void)
{
    const struct stage_fetch *fetch = &stage_fetch;
    const int sized = !isnan(fetch->gib);

    if (!fetch->command && (fetch->folder || sized || opt_is_set(&fetch->jobs)))
        opt_misuse("--cache-dir, --cache-size and --fetch-jobs belong to "
                   "--fetch");
    if (!fetch->command)
        return;
    if (!fetch->folder || !sized)
        opt_misuse("--fetch needs --cache-dir DIR and --cache-size GIB");
    if (!strstr(fetch->command, "%o"))
        opt_misuse("--fetch: the command must write the file %%o");
    data_fetch_use(&(struct data_fetch_settings){
        .command = fetch->command,
        .folder = fetch->folder,
        .bytes = (uint64_t)(fetch->gib * (1 << 30)),
        .workers = (size_t)fetch->jobs,
        .run = run_fetch,
    });
}
