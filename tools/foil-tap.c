#include <stdlib.h>
#include <string.h>

#include "foil-tap/tap.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static struct tap tap = {.kinds = "", .lease = 10};
static int to = 1 /* train */, role = 5 /* any */; /* indices of the words */

static const struct opt opts[] = {
    STAGE_RUN_OPT(tap.options),
    {"full", 'f', OPT_FLAG, &tap.full, 0, 0, NULL,
     "print all numbers of the tensors instead of a digest"},
    {"quiet", 'q', OPT_FLAG, &tap.quiet, 0, 0, NULL, "print nothing"},
    {"kinds", 'k', OPT_TEXT, &tap.kinds, 0, 0, "LIST",
     "only these kinds, such as \"batch end\"; else all"},
    {"count", 'n', OPT_WHOLE, &tap.count, 0, 1e15, "N",
     "end after N messages, or N broken rules; 0: never"},
    {"vocabulary", 0, OPT_TEXT, &tap.vocabulary, 0, 0, "FILE",
     "also print tokens as text"},
    {"follow", 0, OPT_FLAG, &tap.follow, 0, 0, NULL,
     "events: after the end of a run, wait for the next"},
    {"record", 'w', OPT_TEXT, &tap.record, 0, 0, "FILE",
     "also write the messages to FILE"},
    {"tensorboard", 0, OPT_TEXT, &tap.tensorboard, 0, 0, "DIR",
     "events, show: also write metrics and histograms for TensorBoard"},
    {"to", 0, OPT_CHOICE, &to, 0, 0, "select|train|negatives",
     "proxy, replay: role in the key of the binding stage"},
    {"lease", 0, OPT_WHOLE, &tap.lease, 1, 86400, "SECONDS",
     "check: lease of the stage that sends items"},
    STAGE_KEYS_OPTS(tap.options),
    {"role", 0, OPT_CHOICE, &role, 0, 0,
     "select|augment|train|negatives|tap|any", "keys: role of the key's owner"},
    {0},
};

static const struct opt_tool tool = {
    "foil-tap",
    "watch, record, replay and check the messages between stages",
    "events|proxy|show|replay|keys|check [WHERE ...]",
    0,
    3,
    opts,
};

struct verb {
    const char *name, *operands, *does;
    int least, most; /* operands */
    void (*run)(struct tap *tap, char **operand);
};

static void
make_keys(struct tap *of, char **operand)
{
    struct err err;

    or_die(wire_keys_make(operand[0], operand[1], of->role, &err), &err);
}

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

static void
play_role(struct tap *of, char **operand)
{
    const struct role *played = roles;
    struct check check = {.tap = of, .lease = of->lease, .table = "Greeting"};
    const char *where[2] = {NULL};
    struct err err;

    while (played < roles + ROLES && strcmp(played->name, operand[0]))
        played++;
    if (played == roles + ROLES) {
        err_name(&err, "role", operand[0], strlen(operand[0]), name_role);
        opt_misuse("%s", err.msg);
    }
    tap_open(of);
    for (size_t i = 0; i < 2 && played->edge[i]; i++) {
        where[i] =
            stage_endpoint(&of->stage, i ? NULL : operand[1], played->edge[i]);
        if (!where[i])
            opt_misuse("check needs -r DIR%s",
                       played->edge[1] ? "" : " or an endpoint");
    }
    check.session = (int64_t)clock_wall();
    played->play(&check, where);
    check_finish(&check);
}

static const struct verb verbs[] = {
    {"events", " [ENDPOINT]", "print what a trainer publishes", 0, 1,
     tap_events},
    {"proxy", " HERE THERE",
     "forward messages between two stages, and print "
     "them",
     2, 2, tap_proxy},
    {"show", " FILE", "print a recording", 1, 1, tap_show},
    {"replay", " FILE [ENDPOINT]", "play a recording to a stage", 1, 2,
     tap_replay},
    {"keys", " DIR NAME", "make a key pair for CURVE", 2, 2, make_keys},
    {"check", " ROLE [ENDPOINT]", "test a stage against the protocol", 1, 2,
     play_role},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

_Noreturn static void
list_verbs(void)
{
    log_message("needs a verb:");
    for (size_t i = 0; i < VERBS; i++)
        opt_row(stderr, mem_temp("%s%s", verbs[i].name, verbs[i].operands),
                verbs[i].does);
    exit(EXIT_USAGE);
}

static const struct verb *
find_verb(const char *name, int operands)
{
    char *wanted = mem_text("needs");

    for (size_t i = 0; i < VERBS; i++) {
        const struct verb *verb = &verbs[i];

        if (!strcmp(verb->name, name) && operands >= verb->least &&
            operands <= verb->most) {
            free(wanted);
            return verb;
        }
        mem_append(&wanted, "%s %s%s",
                   !i              ? ""
                   : i + 1 < VERBS ? ","
                                   : " or",
                   verb->name, verb->operands);
    }
    opt_misuse("%s", wanted);
}

int
main(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    const struct verb *verb = verbs;
    int n = 0;

    if (!operand[0])
        list_verbs();
    while (operand[n + 1])
        n++;
    while (verb < verbs + VERBS && strcmp(verb->name, operand[0]))
        verb++;
    if (!n && !tap.options.run && verb == verbs + VERBS &&
        file_exists(operand[0])) // events of RUN
        tap.options.run = operand[0];
    verb = tap.options.run == operand[0] ? &verbs[0] : find_verb(operand[0], n);
    tap.to = opt_choice(&to);
    tap.role = opt_choice(&role);
    verb->run(&tap, operand + 1);
    return EXIT_OK;
}
