#include <stddef.h>

#include "train/state.h"

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    {"epoch", offsetof(struct train_state, epoch)},
    {"step", offsetof(struct train_state, step)},
    {"steps", offsetof(struct train_state, steps)},
    {"epochs", offsetof(struct train_state, epochs)},
    {"total", offsetof(struct train_state, total)},
    {"images", offsetof(struct train_state, images)},
    {"substituted", offsetof(struct train_state, substituted)},
    {"skipped", offsetof(struct train_state, skipped)},
    {"alone", offsetof(struct train_state, alone)},
};

json_t *
train_state_put(const struct train_state *state)
{
    json_t *object = json_object();

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(
            object, fields[i].name,
            json_integer(
                *(const int64_t *)((const char *)state + fields[i].offset)));
    return object;
}

int
train_state_get(struct train_state *state, const json_t *object,
                struct err *err)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int64_t *field = (int64_t *)((char *)state + fields[i].offset);

        if (json_get_whole(object, fields[i].name, 0, INT64_MAX, field, err))
            return -1;
    }
    return 0;
}
