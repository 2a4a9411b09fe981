#include <stddef.h>
#include <stdio.h>

#include "train/state.h"

static const char without_service[] = "steps_without_service";

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
    {without_service, offsetof(struct train_state, steps_without_service)},
};

static const struct {
    const char *name;
    size_t offset, room;
} texts[] = {
    {"plan", offsetof(struct train_state, plan),
     sizeof((struct train_state *)0)->plan},
    {"order", offsetof(struct train_state, order),
     sizeof((struct train_state *)0)->order},
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
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = (const char *)state + texts[i].offset;

        if (*text)
            json_object_set_new(object, texts[i].name, json_string(text));
    }
    return object;
}

int
train_state_get(struct train_state *state, const json_t *object,
                struct err *err)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        int64_t *field = (int64_t *)((char *)state + fields[i].offset);
        const char *name = fields[i].name;

        if (name == without_service && !json_object_get(object, name))
            name = "alone"; // of an older foil
        if (json_get_whole(object, name, 0, INT64_MAX, field, err))
            return -1;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *to = (char *)state + texts[i].offset;
        const char *text = "";

        if (json_object_get(object, texts[i].name) &&
            json_get_text(object, texts[i].name, &text, err))
            return -1;
        snprintf(to, texts[i].room, "%s", text);
    }
    return 0;
}
