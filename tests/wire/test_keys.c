#include <stdio.h>
#include <sys/stat.h>

#include "t.h"
#include "wire/edge.h"
#include "wire/keys.h"

#include "flow/ends.h"

static char *
path(const char *name)
{
    static char text[128];

    snprintf(text, sizeof text, "%s/%s", scratch, name);
    return text;
}

static void
write_text(const char *name, const char *text)
{
    FILE *file = fopen(path(name), "w");

    fputs(text, file);
    fclose(file);
}

static void
making(void)
{
    struct wire_keys keys;
    struct err err = {""};
    struct stat st;

    T(!wire_keys_make(scratch, "sel", "select", &err), "made: %s", err.msg);
    T(!stat(path("sel.key_secret"), &st) && (st.st_mode & 077) == 0,
      "other users cannot read the secret");
    T(wire_keys_make(scratch, "sel", "select", &err), "not twice: %s", err.msg);
    T(wire_keys_make(scratch, "x", "king", &err), "no such role: %s", err.msg);
    T(wire_keys_make(scratch, "../x", "any", &err), "no path: %s", err.msg);
    T(!wire_keys_make(scratch, "aug", "augment", &err), "another");
    T(!wire_keys_open(&keys, path("sel.key_secret"), scratch, &err),
      "read back: %s", err.msg);
    T(keys.n == 2 && !strcmp(keys.own.role, "select") &&
          strlen(keys.own.secret_key) == 40,
      "own and allowed");
    T(!strcmp(keys.allowed[0].name, "aug") && !*keys.allowed[0].secret_key,
      "by name, public only");
    T(wire_keys_find(&keys, "augment", &err) == &keys.allowed[0], "by role");
    T(!wire_keys_find(&keys, "train", &err), "none: %s", err.msg);
    wire_keys_release(&keys);
    wire_keys_release(&keys);
}

static void
faulty(void)
{
    struct wire_keys keys;
    struct err err = {""};

    T(wire_keys_open(&keys, path("none"), scratch, &err), "missing: %s",
      err.msg);
    T(wire_keys_open(&keys, path("sel.key_secret"), "/nonexistent", &err),
      "no folder: %s", err.msg);
    T(chmod(path("sel.key_secret"), 0644) == 0 &&
          wire_keys_open(&keys, path("sel.key_secret"), scratch, &err),
      "others may read it: %s", err.msg);
    chmod(path("sel.key_secret"), 0600);
    write_text("bad.key", "metadata\n    role = \"any\"\ncurve\n"
                          "    public-key = \"short\"\n");
    T(wire_keys_open(&keys, path("sel.key_secret"), scratch, &err),
      "no key inside: %s", err.msg);
    write_text("bad.key", "curve\n    public-key = "
                          "\"rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7\"\n");
    T(wire_keys_open(&keys, path("sel.key_secret"), scratch, &err),
      "no role inside: %s", err.msg);
    remove(path("bad.key"));
    wire_keys_make(scratch, "aug2", "augment", &err);
    T(!wire_keys_open(&keys, path("sel.key_secret"), scratch, &err) &&
          !wire_keys_find(&keys, "augment", &err),
      "two with one role: %s", err.msg);
    wire_keys_release(&keys);
}

/* 1 when the folder, or the file in it, may have that mode and owner. */
static int
allows(const char *name, mode_t mode, int owner)
{
    struct wire_keys keys;
    char at[128];
    struct err err = {""};
    struct stat st;
    int fine;

    snprintf(at, sizeof at, "%s", *name ? path(name) : scratch);
    if (stat(at, &st) || chmod(at, mode) || (owner && chown(at, 12345, -1)))
        abort();
    fine = !wire_keys_open(&keys, path("sel.key_secret"), scratch, &err);
    T(fine || strstr(err.msg, "chmod go-w") || strstr(err.msg, "chown"), "(%s)",
      err.msg);
    if (fine)
        wire_keys_release(&keys);
    if (chmod(at, st.st_mode & 07777) || chown(at, st.st_uid, st.st_gid))
        abort();
    return fine;
}

static void
modes(void)
{
    T(allows("", 0700, 0) && allows("", 0755, 0) && allows("", 0711, 0),
      "a folder of public keys that only we can write to is fine");
    T(!allows("", 0777, 0) && !allows("", 01777, 0) && !allows("", 0757, 0),
      "one that all can write to is refused");
    T(!allows("", 0775, 0), "one that its group can write to is refused");
    T(allows("aug.key", 0644, 0) && !allows("aug.key", 0666, 0) &&
          !allows("aug.key", 0664, 0),
      "a key in it that others can write to is refused");
    if (geteuid() == 0)
        T(!allows("", 0755, 1) && !allows("aug.key", 0644, 1),
          "a folder or key of another user is refused");
    else
        T_SKIP("a folder or key of another user is refused",
               "only root can chown");
}

/* Each role at each end of each edge: as in KEYS of foil-wire(5). */
static void
roles(void)
{
    static const struct {
        const char *role;
        unsigned connects, binds; /* WIRE_EDGE_BIT()s */
    } may[] = {
        {"select", WIRE_EDGE_BIT(WIRE_EDGE_FEATURES),
         WIRE_EDGE_BIT(WIRE_EDGE_PLAN)},
        {"augment",
         WIRE_EDGE_BIT(WIRE_EDGE_PLAN) | WIRE_EDGE_BIT(WIRE_EDGE_BATCH), 0},
        {"train", WIRE_EDGE_BIT(WIRE_EDGE_NEGATIVES),
         WIRE_EDGE_BIT(WIRE_EDGE_BATCH) | WIRE_EDGE_BIT(WIRE_EDGE_FEATURES) |
             WIRE_EDGE_BIT(WIRE_EDGE_EVENTS)},
        {"negatives", WIRE_EDGE_BIT(WIRE_EDGE_PLAN),
         WIRE_EDGE_BIT(WIRE_EDGE_PLAN) | WIRE_EDGE_BIT(WIRE_EDGE_NEGATIVES)},
        {"tap", 0, 0},
        {"any", ~0u, ~0u},
    };

    for (size_t i = 0; i < sizeof may / sizeof *may; i++) {
        const unsigned reads = WIRE_EDGE_BIT(WIRE_EDGE_EVENTS);
        int fine = wire_role_known(may[i].role);

        for (enum wire_edge edge = 0; edge < WIRE_EDGE_ANY; edge++) {
            const unsigned bit = WIRE_EDGE_BIT(edge);

            fine &= wire_edge_allows_role(edge, WIRE_CONNECTS, may[i].role) ==
                        (((may[i].connects | reads) & bit) != 0) &&
                    wire_edge_allows_role(edge, WIRE_BINDS, may[i].role) ==
                        ((may[i].binds & bit) != 0);
        }
        T(fine, "where a key of role %s may be", may[i].role);
    }
    T(!wire_role_known("king") && !wire_role_known("") &&
          !wire_role_known("augment negatives") && !wire_role_known("aug"),
      "no other role anywhere");
}

int
main(void)
{
    scratch_open();
    making();
    modes();
    faulty();
    roles();
    scratch_close();
    return t_done();
}
