#include "towers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "nn/checkpoint.h"
#include "train/config.h"
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
        towers->checkpoint ? train_config_read(towers->checkpoint, &err) : NULL;
    if (!config)
        die("%s", err.msg);
    texts = json_object_get(config, "text") != NULL;
    json_decref(config);
    return texts;
}

void
towers_embed(struct towers *towers, const char *data, int average, long threads)
{
    const char *base = getenv("TMPDIR");
    struct judge judge = {.stop = -1};
    char *number = mem_format("%ld", threads);
    struct err err;
    int done = 1;

    towers->folder = mem_format("%s/foil-XXXXXX", base ? base : "/tmp");
    judge.bin = file_own_folder(&err);
    if (!judge.bin)
        die("%s", err.msg);
    if (!mkdtemp(towers->folder))
        die("cannot make '%s': %s", towers->folder, strerror(errno));
    for (int k = 0; k < 2 && done > 0; k++) {
        const char *words[] = {"-o",
                               NULL,
                               "--layer",
                               "z",
                               "--threads",
                               number,
                               towers->checkpoint,
                               data,
                               k         ? "--captions"
                               : average ? "--average"
                                         : NULL,
                               k && average ? "--average" : NULL,
                               NULL};

        towers->file[k] =
            mem_format("%s/%s.npy", towers->folder, k ? "captions" : "images");
        words[1] = towers->file[k];
        done = judge_run_tool(&judge, "foil-embed", words);
    }
    free(judge.bin);
    free(number);
    if (done > 0)
        return;
    towers_remove(towers);
    die("foil-embed has not embedded '%s' by '%s'", data, towers->checkpoint);
}

void
towers_remove(struct towers *towers)
{
    struct err err;

    if (towers->folder && file_remove(towers->folder, &err))
        say("%s", err.msg);
    free(towers->folder);
    towers->folder = NULL;
}

void
towers_release(struct towers *towers)
{
    free(towers->checkpoint);
    free(towers->file[0]);
    free(towers->file[1]);
}
