#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "util/mem.h"

enum {
    TENSORS = 10000,
    NAME = 200, // bytes of a tensor's name
    RANK = sizeof((struct nn_tensor *)0)->shape / sizeof(size_t),
    ALIGN = 64
};

static const double most = 1e11; // numbers of a tensor

struct train_program *
train_program_open(const char *line, double limit_s,
                   void (*print)(void *tool, const char *line), struct err *err)
{
    struct train_program *p = mem_array(1, sizeof *p);
    const struct stage_program_config config = {.name = "encoder",
                                                .line = line,
                                                .limit_s = limit_s,
                                                .most = TENSORS,
                                                .print = print};

    p->line = mem_text(line);
    p->program = stage_program_open(&config, err);
    if (p->program)
        return p;
    train_program_close(p);
    return NULL;
}

void
train_program_close(struct train_program *p)
{
    if (!p)
        return;
    stage_program_close(p->program);
    mem_free(p->line, p);
}

int
train_program_failed(const struct train_program *p)
{
    return p->failed;
}

size_t
train_program_grow(struct train_program *p, size_t bytes, struct err *err)
{
    const size_t at = p->size ? p->size : ALIGN; // 0 means failure
    const size_t size = at + (bytes + ALIGN - 1) / ALIGN * ALIGN;
    char *memory = stage_program_memory(p->program, size, err);

    if (!memory)
        return 0;
    p->memory = memory;
    p->size = size;
    return at;
}

/* --------------------------------------------------- requests and answers */

/* Takes the answer to the oldest request. */
static int
take_answer(struct train_program *p, struct stage_answer *answer,
            struct err *err)
{
    if (!p->failed &&
        stage_program_take(p->program, -1, answer, &p->why) != STAGE_ANSWERED)
        p->failed = 1;
    p->pending--;
    if (!p->failed)
        return 0;
    *err = p->why;
    return -1;
}

/* Takes and drops all pending answers except the last `keep`. */
static int
take_answers(struct train_program *p, size_t keep, struct err *err)
{
    int rc = 0;

    while (!rc && p->pending > keep) {
        struct stage_answer answer = {0};

        rc = take_answer(p, &answer, err);
        free(answer.ok);
    }
    return rc;
}

void
train_program_send(struct train_program *p, char *line)
{
    struct err copy; // of p->why

    if (!p->failed && strchr(line, '\n')) {
        err_set(&p->why, "encoder: the name of a file has a line end, which "
                         "cannot be sent to a program");
        p->failed = 1;
    }
    if (!p->failed && p->pending == STAGE_PENDING)
        take_answers(p, STAGE_PENDING - 1, &copy);
    if (!p->failed) {
        stage_program_send(p->program, line);
        p->pending++;
    }
    free(line);
}

int
train_program_request(struct train_program *p, char *line,
                      struct stage_answer *answer, struct err *err)
{
    answer->ok = NULL;
    train_program_send(p, line);
    if (p->failed) {
        *err = p->why;
        return -1;
    }
    if (take_answers(p, 1, err) || take_answer(p, answer, err))
        return -1;
    if (!answer->ok)
        answer->ok = mem_text("");
    return 0;
}

int
train_program_fail(struct train_program *p, const struct err *err)
{
    p->failed = 1;
    p->why = *err;
    return -1;
}

int
train_program_number(struct train_program *p, const char *words,
                     const struct train_number *want, double *number,
                     struct err *err)
{
    const size_t n = strlen(want->name);
    char *end, range[64];
    double x;
    int len;

    *number = 0;
    for (words += strspn(words, " "); *words; words += strspn(words, " ")) {
        if (!strncmp(words, want->name, n) && words[n] == '=')
            break;
        words += strcspn(words, " ");
    }
    if (!*words)
        return 0;
    *number = x = strtod(words + n + 1, &end);
    if (end > words + n + 1 && (!*end || *end == ' ') &&
        !(x < want->low || x > want->high) &&
        (isfinite(x) || isinf(want->high)) && (!want->whole || x == floor(x)))
        return 1;
    len = (int)strcspn(words, " ");
    if (isinf(want->high))
        snprintf(range, sizeof range, "%.0f or more", want->low);
    else
        snprintf(range, sizeof range, "%.0f to %.0f", want->low, want->high);
    err_set(err, "encoder: '%.100s' answered %.*s: want a %s, %s", p->line,
            len < 60 ? len : 60, words, want->whole ? "whole number" : "number",
            range);
    return train_program_fail(p, err);
}

/* ---------------------------------------------------------------- tensors */

void
train_tensors_release(struct train_tensors *tensors)
{
    for (size_t i = 0; i < tensors->n; i++)
        free((char *)tensors->tensor[i].name);
    free(tensors->tensor);
    *tensors = (struct train_tensors){0};
}

/* Parses "64x3x7x7" and counts its numbers; returns 1, or 0. */
static int
parse_shape(const char *text, struct nn_tensor *t)
{
    double count = 1;
    char *end;

    for (;;) {
        const unsigned long long side = strtoull(text, &end, 10);

        if (end == text || *text == '-' || *text == '+' || *text == ' ' ||
            !side || t->rank == RANK || (count *= (double)side) > most)
            return 0;
        t->shape[t->rank++] = (size_t)side;
        if (!*end)
            break;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    t->count = (size_t)count;
    return 1;
}

static const struct nn_tensor *
find_tensor(const struct nn_tensor *tensor, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(tensor[i].name, name))
            return tensor + i;
    return NULL;
}

int
train_tensors_take(void *of, const char *line, struct err *err)
{
    struct train_tensors *tensors = of;
    struct nn_tensor t = {.decays = 1};
    char name[NAME + 1], kind[16], shape[128];
    size_t *block;

    if (sscanf(line, "tensor %200s %15s %127s", name, kind, shape) != 3 ||
        (strcmp(kind, "parameter") && strcmp(kind, "statistic")) ||
        !parse_shape(shape, &t))
        return err_set(err,
                       "answered '%.80s': want 'tensor NAME "
                       "parameter|statistic SHAPE', the shape as 64x3x7x7, of "
                       "%d numbers at most",
                       line, RANK);
    if (find_tensor(tensors->tensor, tensors->n, name))
        return err_set(err, "has two tensors '%.80s'", name);
    t.name = mem_text(name);
    t.statistic = !strcmp(kind, "statistic");
    block = t.statistic ? &tensors->statistics : &tensors->params;
    t.offset = *block;
    *block += t.count;
    mem_grow(&tensors->tensor, &tensors->room, tensors->n + 1,
             sizeof *tensors->tensor);
    tensors->tensor[tensors->n++] = t;
    return 0;
}

static void
print_shape(const struct nn_tensor *t, char text[128])
{
    size_t at = 0;

    for (size_t k = 0; k < t->rank; k++)
        at += (size_t)snprintf(text + at, 128 - at, "%s%zu", k ? "x" : "",
                               t->shape[k]);
}

static int
match_tensor(const struct nn_tensor *t, const struct nn_tensor *want,
             const char *arch, const char *line, struct err *err)
{
    char is[128], wanted[128];

    if (!t)
        return err_set(err,
                       "encoder: '%.100s' has no tensor '%s', which --arch %s "
                       "has: --arch program takes any tensors",
                       line, want->name, arch);
    print_shape(t, is);
    print_shape(want, wanted);
    if (strcmp(is, wanted) || t->statistic != want->statistic)
        return err_set(err,
                       "encoder: '%.100s' has tensor '%s' as %s %s, --arch %s "
                       "as %s %s: --arch program takes any tensors",
                       line, t->name, t->statistic ? "statistic" : "parameter",
                       is, arch, want->statistic ? "statistic" : "parameter",
                       wanted);
    return 0;
}

int
train_tensors_match(const struct train_tensors *tensors,
                    const struct nn_spec *net, size_t dim, const char *line,
                    struct err *err)
{
    struct nn_net *ours = nn_net_new(net, 1, 0, err);
    const struct nn_tensor *want;
    size_t n;
    int rc = 0;

    if (!ours)
        return -1;
    want = nn_net_tensors(ours, &n);
    for (size_t i = 0; i < n && !rc; i++)
        rc =
            match_tensor(find_tensor(tensors->tensor, tensors->n, want[i].name),
                         want + i, net->arch, line, err);
    for (size_t i = 0; i < tensors->n && !rc; i++)
        if (!find_tensor(want, n, tensors->tensor[i].name))
            rc = err_set(err,
                         "encoder: '%.100s' has a tensor '%s', which --arch %s "
                         "has not: --arch program takes any tensors",
                         line, tensors->tensor[i].name, net->arch);
    if (!rc && dim != nn_net_dim(ours))
        rc = err_set(err,
                     "encoder: '%.100s' makes embeddings of %zu numbers, "
                     "--arch %s with --head %s of %zu",
                     line, dim, net->arch, net->head, nn_net_dim(ours));
    nn_net_free(ours);
    return rc;
}

/* ------------------------------------------------ objectives of a program */

static const struct param params[] = {LOSS_PARAM_TAU(0.5), {0}};

const struct loss_objective train_external = {
    .name = "external",
    .summary = "that of the encoder's program",
    .params = params,
    .head = "none",
    .by_encoder = 1,
};

const struct loss_objective train_external_weighed = {
    .name = "external-weighed",
    .summary = "that of the encoder's program, of weighed negatives",
    .params = params,
    .head = "none",
    .needs_weights = "emc2",
    .draws_inside = 1,
    .pairs = "its negatives are drawn for two views",
    .by_encoder = 1,
};

const struct loss_objective *
train_find_objective(const char *name, struct err *err)
{
    return !strcmp(name, train_external.name) ? &train_external
           : !strcmp(name, train_external_weighed.name)
               ? &train_external_weighed
               : loss_objective_find(name, err);
}
