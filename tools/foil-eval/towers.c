#include "towers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judge.h"
#include "nn/checkpoint.h"
#include "run/settings.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const double grace_s = 20; // longer than foil-embed has (run_tool.c)

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

/* Makes a folder for the files.  A shell makes it, and removes it when the pipe
 * is closed: by towers_remove(), or by the kernel where we and foil-embed,
 * which has it, too, are killed, at whatever time. */
static char *
make_folder(struct towers *towers)
{
    static char sh[] = "sh", option[] = "-c",
                line[] = "made=$(mktemp -d -- \"$0\") || exit; echo \"$made\"; "
                         "cat; rm -rf -- \"$made\"";
    const char *base = getenv("TMPDIR");
    char *folder = mem_format("%s/foil-XXXXXX", base ? base : "/tmp");
    char *argv[] = {sh, option, line, folder, NULL};
    const ssize_t len = (ssize_t)strlen(folder);
    int life[2], name[2], rc;
    struct stage_process_config config = {
        .argv = argv,
        .n_fd = 2,
        .ask = STAGE_ASK_INPUT,
        .grace_s = grace_s,
    };

    if (pipe(life) || pipe(name) || fcntl(life[1], F_SETFD, FD_CLOEXEC))
        die("cannot make a pipe: %s", strerror(errno));
    config.fd = (const int[]){life[0], name[1]};
    rc = stage_process_start(&towers->keeper, &config);
    if (rc)
        die("cannot start a process: %s", strerror(rc));
    close(life[0]);
    close(name[1]);
    if (read(name[0], folder, (size_t)len) != len)
        die("cannot make a folder in '%s'", base ? base : "/tmp");
    close(name[0]);
    fcntl(life[1], F_SETFD, 0); // foil-embed has it, too
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
    if (!towers->keeper.pid)
        return;
    close(towers->life);
    stage_process_wait(&towers->keeper, -1);
}

void
towers_release(struct towers *towers)
{
    free(towers->checkpoint);
    free(towers->file[0]);
    free(towers->file[1]);
}
