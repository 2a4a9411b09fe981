#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nn/checkpoint.h"
#include "train.h"
#include "util/file.h"
#include "util/json.h"
#include "util/mem.h"

static json_t *
text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

void
train_tell_list(void)
{
    for (size_t i = 0; loss_objectives[i]; i++) {
        const struct loss_objective *o = loss_objectives[i];
        json_t *state = json_array();

        for (size_t k = 0; k < o->columns; k++)
            json_array_append_new(state, json_string(o->column[k]));
        json_print(json_pack(
            "{s:s, s:s, s:o, s:b, s:b, s:o, s:o, s:s}", "name", o->name,
            "summary", o->summary, "negatives", text_or_null(o->wants_weights),
            "outside", o->wants_outside, "inside", o->draws_inside, "state",
            state, "defaults", param_list(o->params), "head", o->head));
    }
}

/* Whether nobody trains in the run directory. */
static int
check_free(const char *run, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = mem_format("%s/lock", run);
    int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;

    if (fd < 0)
        rc = errno == ENOENT ? 0 : err_sys(err, "cannot open '%s'", path);
    else if (fcntl(fd, F_GETLK, &whole))
        rc = err_sys(err, "cannot look at the lock '%s'", path);
    else if (whole.l_type != F_UNLCK)
        rc = err_set(err, "another foil-train has '%s'", run);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}

/* From the newest checkpoint, or from nothing, as a run would begin. */
static int
stand(struct train *t, struct err *err)
{
    const char *run = t->options->run;
    char *newest = NULL;
    int rc = file_exists(run) ? nn_checkpoint_find(run, &newest, err) : 0;

    if (rc > 0 && !t->options->resume)
        rc = err_set(err, "'%s' holds a run: --resume goes on with it", run);
    else if (rc >= 0)
        rc = newest ? train_resume(t, newest, err) : train_prepare(t, err);
    free(newest);
    return rc;
}

int
train_tell_needs(struct train *t, struct err *err)
{
    const struct train_options *o = t->options;
    const struct train_state *s = &t->state;
    const char *method;

    train_save_open(t);
    if (check_free(o->run, err) || stand(t, err))
        return -1;
    method = strcmp(o->sampler, "service") ? NULL : t->objective->wants_weights;
    json_print(json_pack("{s:s, s:o, s:b, s:I, s:I, s:I, s:b}", "objective",
                         o->objective, "negatives", text_or_null(method),
                         "outside", method && t->objective->wants_outside,
                         "epoch", (json_int_t)s->epoch, "step",
                         (json_int_t)s->step, "total", (json_int_t)s->total,
                         "enough", o->steps && s->total >= o->steps));
    return 0;
}
