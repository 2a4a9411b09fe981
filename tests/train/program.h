#pragma once

/*
 * A program of foil-encoder(5) around an encoder of foil's: its results are bit
 * for bit those without a program.  `fault` makes it fail at a request, for
 * example "forward:die"; "": never.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loss/device.h"
#include "loss/objective.h"
#include "num/vec.h"
#include "train/native.h"
#include "util/mem.h"

struct program {
    struct train_encoder encoder;
    struct nn_weights blocks;
    size_t input[2], z, dz, params, statistics, ids, weights, scale, tau, group,
        sums, coefficients, rows, image;
    int can_sum, loss, early;
    int64_t first; /* first sample of the batch */
    float *dv;     /* of the last loss, or row sums */
    double *p;     /* of the last row sums */
    enum loss_mask mask;
    struct nn_input of; /* of the last slot */
    size_t offsets[64];
    double norm;
    int slot, steady;
    char *memory;
};

/* The number after NAME= in a request; 0 if there is none. */
static inline double
program_word(const char *line, const char *name)
{
    char word[64];
    const char *at;

    snprintf(word, sizeof word, " %s=", name);
    at = strstr(line, word);
    return at ? strtod(at + strlen(word), NULL) : 0;
}

static inline size_t
program_at(const char *line, const char *name)
{
    return (size_t)program_word(line, name);
}

static inline void
program_open(struct program *p)
{
    for (size_t i = 0; i < p->blocks.n; i++) {
        const struct nn_tensor *t = p->blocks.tensor + i;

        printf("tensor %s %s ", t->name,
               t->statistic ? "statistic" : "parameter");
        for (size_t k = 0; k < t->rank; k++)
            printf("%s%zu", k ? "x" : "", t->shape[k]);
        printf("\n");
    }
    printf("ok engine=mirror sums=%d late=%d dim=%zu\n", p->can_sum, p->can_sum,
           p->encoder.dim);
}

static inline void
program_layout(struct program *p, const char *line)
{
    const int fd = open(getenv("FOIL_MEMORY"), O_RDWR);

    p->memory = mmap(NULL, program_at(line, "size"), PROT_READ | PROT_WRITE,
                     MAP_SHARED, fd, 0);
    p->input[0] = program_at(line, "input0");
    p->input[1] = program_at(line, "input1");
    p->z = program_at(line, "z");
    p->dz = program_at(line, "dz");
    p->params = program_at(line, "parameters");
    p->statistics = program_at(line, "statistics");
    p->ids = program_at(line, "ids");
    p->weights = program_at(line, "weights");
    p->scale = program_at(line, "scale");
    p->tau = program_at(line, "tau");
    p->group = program_at(line, "group");
    p->sums = program_at(line, "sums");
    p->coefficients = program_at(line, "coefficients");
    printf("ok\n");
}

/* Sets the input to the rows of a slot up to `to`. */
static inline void
program_input(struct program *p, size_t slot, size_t to)
{
    char *at = p->memory + p->input[slot];
    const int64_t *offset = (const int64_t *)(void *)at;

    p->of = (struct nn_input){.n = to, .images = (const uint8_t *)at};
    if (p->encoder.kind == NN_IDS)
        p->of.ids = (const int32_t *)(void *)at;
    if (p->encoder.kind != NN_TOKENS)
        return;
    for (size_t i = 0; i <= to; i++)
        p->offsets[i] = (size_t)offset[i];
    p->of.offsets = p->offsets;
    p->of.ids = (const int32_t *)(const void *)(offset + p->rows + 1);
}

static inline void
program_forward(struct program *p, const char *line)
{
    const size_t from = program_at(line, "from"), to = program_at(line, "to");
    const enum nn_mode mode = strstr(line, "mode=train")    ? NN_TRAIN
                              : strstr(line, "mode=encode") ? NN_ENCODE
                                                            : NN_FIXED;
    float *z = (float *)(void *)(p->memory + p->z) + from * p->encoder.dim;
    const struct train_encoder_ops *ops = p->encoder.ops;
    struct err err;

    program_input(p, program_at(line, "slot"), to);
    if (!from && !program_word(line, "again"))
        ops->take(p->encoder.self, &p->of, &err);
    ops->forward(p->encoder.self, from, to, mode,
                 program_word(line, "again") > 0 ? NULL : z, &err);
    printf("ok\n");
}

static inline void
program_sums(struct program *p, const char *line)
{
    const size_t b = program_at(line, "samples");

    p->mask = strstr(line, "mask=batch")             ? LOSS_BATCH
              : strstr(line, "mask=negatives")       ? LOSS_NEGATIVES
              : strstr(line, "mask=cross-negatives") ? LOSS_CROSS_NEGATIVES
                                                     : LOSS_CROSS;
    p->p = realloc(p->p, 4 * b * b * sizeof *p->p);
    device_sums(b, p->encoder.dim, (float *)(void *)(p->memory + p->z), p->mask,
                (double *)(void *)(p->memory + p->tau),
                program_word(line, "tau"),
                program_word(line, "groups") > 0
                    ? (int64_t *)(void *)(p->memory + p->group)
                    : NULL,
                p->p, (struct loss_sums *)(void *)(p->memory + p->sums));
    printf("ok\n");
}

/* The loss of SimCLR, for comparison, and the sums of weights and scales. */
static inline void
program_loss(struct program *p, const char *line)
{
    struct err err;
    const struct loss_objective *simclr = loss_objective_find("simclr", &err);
    const struct loss_settings settings = loss_settings_of(simclr);
    const struct loss_batch batch = {.b = p->of.n / 2, .dim = p->encoder.dim};
    float *work = mem_array(loss_objective_size(simclr, &batch), sizeof *work);
    struct loss_report report = {0};

    loss_objective_run(simclr, &settings, &batch,
                       (float *)(void *)(p->memory + p->z), NULL, p->dv, work,
                       &report);
    free(work);
    printf("ok loss=%.17g first=%lld", report.value, (long long)p->first);
    if (program_at(line, "anchors"))
        printf(
            " weights=%.17g scale=%.17g",
            num_sum(program_at(line, "anchors") * program_at(line, "columns"),
                    (const float *)(void *)(p->memory + p->weights)),
            num_sum(2 * program_at(line, "anchors"),
                    (const float *)(void *)(p->memory + p->scale)));
    else
        printf(" lr=7");
    printf("\n");
}

static inline void
program_backward(struct program *p, const char *line)
{
    const size_t from = program_at(line, "from"), to = program_at(line, "to");
    const size_t d = p->encoder.dim;
    float *dz = (float *)(void *)(p->memory + p->dz) + from * d;
    struct err err;

    if (p->loss)
        dz = p->dv;
    if (program_word(line, "sums") > 0) {
        dz = p->dv;
        device_gradient((to - from) / 2, d, (float *)(void *)(p->memory + p->z),
                        p->p, (float *)(void *)(p->memory + p->coefficients),
                        dz);
    }
    p->encoder.ops->backward(p->encoder.self, from, to,
                             program_word(line, "add") > 0, dz, &err);
    printf("ok\n");
}

static inline void
program_copy(struct program *p, int from_memory)
{
    for (size_t i = 0; i < p->blocks.n; i++) {
        const struct nn_tensor *t = p->blocks.tensor + i;
        float *there =
            (float *)(void *)(p->memory +
                              (t->statistic ? p->statistics : p->params)) +
            t->offset;
        float *here = (t->statistic ? p->blocks.statistics : p->blocks.params) +
                      t->offset;

        memcpy(from_memory ? here : there, from_memory ? there : here,
               t->count * sizeof *here);
    }
}

static inline void
program_get(struct program *p, const char *line)
{
    const struct nn_average *mean = &train_native(&p->encoder)->average;
    struct nn_weights none;
    struct err err;
    long steps;

    p->encoder.ops->get(p->encoder.self, &none, &steps, &err);
    program_copy(p, 0);
    if (strstr(line, "what=mean")) {
        float *to = (float *)(void *)(p->memory + p->params);

        for (size_t i = 0; i < p->encoder.parameters; i++)
            to[i] = (float)mean->mean[i];
        steps = mean->steps;
    }
    printf("ok steps=%ld\n", steps);
}

/* Saves or loads state in a folder next to the requested file, as files of the
 * native encoder. */
static inline void
program_keep(struct program *p, const char *line, int load)
{
    const struct train_encoder_ops *ops = p->encoder.ops;
    const char *path = strchr(strchr(line, ' ') + 1, ' ') + 1;
    char folder[512];
    struct err err = {""};
    int rc;

    snprintf(folder, sizeof folder, "%s.d", path);
    if (!load) {
        fclose(fopen(path, "w"));
        mkdir(folder, 0700);
    }
    rc = load ? ops->load(p->encoder.self, folder, &err)
              : ops->save(p->encoder.self, folder, &err);
    printf(rc ? "error %s\n" : "ok\n", err.msg);
}

static inline void
program_norm(struct program *p)
{
    struct err err;

    p->encoder.ops->norm(p->encoder.self, &p->norm, &err);
    p->steady = p->encoder.ops->stats_finite(p->encoder.self);
}

/* Handles requests about a gradient or a step; returns 0 for others. */
static inline int
program_step(struct program *p, const char *line)
{
    const struct train_encoder_ops *ops = p->encoder.ops;
    void *self = p->encoder.self;
    struct err err;

    if (!strncmp(line, "norm ", 5)) {
        if (!p->early)
            program_norm(p);
        p->early = 0;
        printf("ok norm=%.17g steady=%d\n", p->norm, p->steady);
        return 1;
    }
    if (program_word(line, "finite") > 0) {
        program_norm(p);
        p->early = 1;
        if (!isfinite(p->norm) || !p->steady)
            line = "undo ";
    }
    if (!strncmp(line, "update ", 7))
        ops->update(self, program_word(line, "rate"), &err);
    else if (!strncmp(line, "average ", 8))
        ops->average(self, &err);
    else if (!strncmp(line, "undo ", 5))
        ops->undo(self);
    else
        return !strncmp(line, "expect ", 7) && printf("ok\n") > 0;
    printf("ok\n");
    return 1;
}

static inline void
program_do(struct program *p, const char *line)
{
    if (program_step(p, line))
        return;
    if (!strncmp(line, "open ", 5))
        p->loss = program_word(line, "loss") > 0, program_open(p);
    else if (!strncmp(line, "batch ", 6))
        memcpy(&p->first, p->memory + p->ids, sizeof p->first), printf("ok\n");
    else if (!strncmp(line, "sums ", 5))
        program_sums(p, line);
    else if (!strncmp(line, "loss ", 5))
        program_loss(p, line);
    else if (!strncmp(line, "layout ", 7))
        program_layout(p, line);
    else if (!strncmp(line, "forward ", 8))
        program_forward(p, line);
    else if (!strncmp(line, "backward ", 9))
        program_backward(p, line);
    else if (!strncmp(line, "get ", 4))
        program_get(p, line);
    else if (!strncmp(line, "put ", 4))
        program_copy(p, 1), printf("ok\n");
    else if (!strncmp(line, "save ", 5) || !strncmp(line, "load ", 5))
        program_keep(p, line, *line == 'l');
    else
        printf("error unknown request '%s'\n", line);
}

/* Applies a fault "REQUEST:WHAT" to such a request and returns 1: die, hang, or
 * answer WHAT, where each ';' ends a line. */
static inline int
program_errs(const char *line, const char *fault)
{
    const char *what = strchr(fault, ':');

    if (!what || strncmp(line, fault, (size_t)(what - fault)))
        return 0;
    what++;
    if (!strcmp(what, "die"))
        exit(3);
    if (!strcmp(what, "hang"))
        pause();
    for (; *what; what++)
        putchar(*what == ';' ? '\n' : *what);
    putchar('\n');
    return 1;
}

/* Runs the program of an encoder until its input ends. */
static inline int
program_main(const struct train_encoder_spec *spec, int can_sum,
             const char *fault)
{
    struct program p = {.rows = spec->rows, .can_sum = can_sum};
    char line[1024];
    struct err err;

    if (train_native_open(&p.encoder, spec, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    p.blocks = nn_net_weights(train_native(&p.encoder)->net);
    p.dv = mem_array(p.rows * p.encoder.dim, sizeof *p.dv);
    fprintf(stderr, "the program is here\n");
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!program_errs(line, fault))
            program_do(&p, line);
        fflush(stdout);
    }
    train_encoder_close(&p.encoder);
    free(p.p);
    free(p.dv);
    return 0;
}
