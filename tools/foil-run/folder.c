#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "list.h"
#include "run/origin.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum {
    LONGEST_RUN = 97, // bytes: names of sockets must fit
    REMNANT_S = 15,   // for stages of a killed foil run to end
    PAUSE_MS = 20
};

char *
folder_of_run(const char *name)
{
    const char *dot = strrchr(name, '.');

    return mem_keep_format(
        "run/%.*s",
        (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name)), name);
}

void
folder_make(const char *path)
{
    char *copy = mem_keep_format("%s", path);
    struct err err;

    for (char *at = copy; (at = strchr(at + 1, '/')) != NULL; *at = '/') {
        *at = 0;
        or_die(!file_exists(copy) && file_mkdir(copy, 0755, &err), &err);
    }
    or_die(file_mkdir(copy, 0700, &err), &err);
}

void
folder_lock(const char *path)
{
    int fd;

    folder_make(path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        die("cannot open '%s': %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB))
        die("another foil run uses '%s'", path);
}

void
folder_lock_run(const char *run)
{
    const char *held = getenv("FOIL_HELD");

    if (strlen(run) > LONGEST_RUN)
        die("-r has %zu bytes: a run directory has at most %d, for the names "
            "of the sockets in it",
            strlen(run), LONGEST_RUN);
    if (held && !strcmp(run, held))
        return;
    folder_lock(run);
    export_variable("FOIL_HELD", run);
}

void
folder_lock_logs(const char *logs)
{
    const char *path = mem_keep_format("%s/lock", logs);
    const double until = clock_now() + REMNANT_S;
    struct err err;
    int rc;

    while (!(rc = lock_take(path, &err)) && clock_now() < until)
        poll(NULL, 0, PAUSE_MS);
    or_die(rc < 0, &err);
    if (!rc)
        die("another foil-run writes to '%s'", logs);
}

void
folder_write_list(const char *run, const struct list *list)
{
    const char *text = list_text(list, run);
    struct err err;

    if (file_write(mem_keep_format("%s/list", run), text, strlen(text), &err))
        die("%s", err.msg);
    for (size_t i = 0; i < list->n; i++)
        if (run_origin_note(run, list->stage[i].name,
                            list_command(&list->stage[i], run), &err))
            log_message("%s", err.msg);
}
