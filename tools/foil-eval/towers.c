#include "towers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge.h"
#include "nn/checkpoint.h"
#include "run/settings.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

int
towers_find(struct towers *towers, const char *path)
{
    json_t *config;
    struct err err;
    int texts;

    *towers = (struct towers){.checkpoint = nn_checkpoint_need(path, &err)};
    config =
        towers->checkpoint ? run_config_read(towers->checkpoint, &err) : NULL;
    if (!config)
        die("%s", err.msg);
    texts = json_object_get(config, "text") != NULL;
    json_decref(config);
    return texts;
}

/* Makes the folder, sends its name to `name`, waits until no process has the
 * other end of `life`, and removes the folder. */
_Noreturn static void
guard_folder(char *folder, int name, int life)
{
    struct err err;
    char none;

    setsid(); // a signal to all of our group is not for it
    signal(SIGPIPE, SIG_IGN);
    if (!mkdtemp(folder))
        _exit(errno);
    if (write(name, folder, strlen(folder)) > 0)
        close(name);
    while (read(life, &none, 1) < 0 && errno == EINTR)
        continue;
    if (!file_remove(folder, &err))
        _exit(0);
    say("%s", err.msg);
    _exit(1);
}

/* Makes a folder for the files.  A process of its own makes and removes it: the
 * pipe is closed by towers_remove(), or by the kernel where we and foil-embed,
 * which has it, too, are killed, at whatever time. */
static char *
make_folder(struct towers *towers)
{
    const char *base = getenv("TMPDIR");
    char *folder = mem_format("%s/foil-XXXXXX", base ? base : "/tmp");
    const ssize_t len = (ssize_t)strlen(folder);
    int life[2], name[2], status = 0;

    if (pipe(life) || pipe(name))
        die("cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    towers->guard = fork();
    if (towers->guard < 0)
        die("cannot start a process: %s", strerror(errno));
    if (!towers->guard) {
        close(life[1]);
        close(name[0]);
        guard_folder(folder, name[1], life[0]);
    }
    close(life[0]);
    close(name[1]);
    if (read(name[0], folder, (size_t)len) != len) {
        waitpid((pid_t)towers->guard, &status, 0);
        die("cannot make '%s': %s", folder, strerror(WEXITSTATUS(status)));
    }
    close(name[0]);
    towers->life = life[1];
    return folder;
}

/* Has foil-embed write the file of one view: 1, or 0 and -1 as judge.h says. */
static int
embed_view(struct towers *towers, const struct judge *judge, const char *data,
           int captions, int average, const char *threads)
{
    const char *words[] = {
        "-o",    towers->file[captions], "--layer", "z",  "--threads",
        threads, towers->checkpoint,     data,      NULL, NULL,
        NULL};
    size_t n = 8;

    if (captions)
        words[n++] = "--captions";
    if (average)
        words[n] = "--average";
    return judge_run_tool(judge, "foil-embed", words);
}

void
towers_embed(struct towers *towers, const char *data, int average, long threads)
{
    struct judge judge = {.stop = -1};
    char *number = mem_format("%ld", threads), *folder;
    struct err err;
    int done = 1;

    judge.bin = file_own_folder(&err);
    if (!judge.bin)
        die("%s", err.msg);
    folder = make_folder(towers);
    for (int k = 0; k < 2 && done > 0; k++) {
        towers->file[k] =
            mem_format("%s/%s.npy", folder, k ? "captions" : "images");
        done = embed_view(towers, &judge, data, k, average, number);
    }
    free(judge.bin);
    free(number);
    free(folder);
    if (done > 0)
        return;
    towers_remove(towers);
    die("foil-embed has not embedded '%s' by '%s'", data, towers->checkpoint);
}

void
towers_remove(struct towers *towers)
{
    if (!towers->guard)
        return;
    close(towers->life);
    while (waitpid((pid_t)towers->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
    towers->guard = 0;
}

void
towers_release(struct towers *towers)
{
    free(towers->checkpoint);
    free(towers->file[0]);
    free(towers->file[1]);
}
