#include "check.h"

#include <string.h>

#include "util/opt.h"

static const struct role {
    const char *name;
    const char *edge[2]; /* its edges in a run directory */
    void (*play)(struct check *check, const char *const *endpoint);
} roles[] = {
    {"select", {"plan"}, check_select},
    {"augment", {"plan", "batch"}, check_augment},
    {"train", {"batch"}, check_train},
    {"negatives", {"negatives"}, check_negatives},
};

enum { ROLES = sizeof roles / sizeof *roles };

static const char *
name_role(size_t i)
{
    return i < ROLES ? roles[i].name : NULL;
}

static const struct role *
find_role(const char *name)
{
    struct err err;

    for (size_t i = 0; i < ROLES; i++)
        if (!strcmp(roles[i].name, name))
            return roles + i;
    err_name(&err, "role", name, strlen(name), name_role);
    opt_misuse("%s", err.msg);
}

void
tap_check(struct tap *tap, char **operand)
{
    const struct role *role = find_role(operand[0]);
    struct check check = {.tap = tap, .lease = tap->lease, .table = "Greeting"};
    const char *where[2] = {NULL};

    tap_open(tap);
    for (size_t i = 0; i < 2 && role->edge[i]; i++) {
        where[i] =
            stage_endpoint(&tap->stage, i ? NULL : operand[1], role->edge[i]);
        if (!where[i])
            opt_misuse("check where? -r DIR%s",
                       role->edge[1] ? "" : " or an endpoint");
    }
    check.session = check_now();
    role->play(&check, where);
    check_finish(&check);
}
