/*
 * conformance [-t TOL] DIR: compare foil with the reference implementations.
 *
 * Reads every .safetensors file in a folder, inputs and results of a reference
 * (tests/data/conformance/README.md), computes the same with foil's library,
 * and prints a line for each file and quantity: its largest error over all
 * steps of the file.  Errors of arrays are relative: largest difference over
 * largest value.  Those of pictures are in levels of 255; one level is within
 * tolerance.  If more is better, the line has our result over the reference's,
 * and the least ratio that is accepted.  The last line is the worst.  NaN is an
 * infinite error.  Exit code 0: something was compared, and all of it is
 * within tolerance.
 *
 * To compare an objective, add a row to the table `handlers`, and the names of
 * its parameters to the table in conform_loss.h.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform_augment.h"
#include "conform_emc2.h"
#include "conform_file.h"
#include "conform_loss.h"
#include "conform_select.h"
#include "conform_tower.h"
#include "util/mem.h"
#include "util/opt.h"

static double tolerance = 1e-5;

/* What can be checked, by the file's objective. */
static const struct {
    const char *objective;
    int (*run)(struct file *file, const char *name, struct err *err);
} handlers[] = {
    {"augment", augment},
    {"emc2", emc2},
    {"simclr", at_unit_rows},
    {"hcl", at_unit_rows},
    {"sogclr", at_unit_rows},
    {"isogclr", at_unit_rows},
    {"isogclr_sqh", at_unit_rows},
    {"flatclr", at_given_rows},
    {"simco", at_given_rows},
    {"tau_simclr", at_given_rows},
    {"spectral_cl", at_given_rows},
    {"barlow_twins", at_given_rows},
    {"vicreg", at_given_rows},
    {"clip", at_unit_rows},
    {"cyclip", at_unit_rows},
    {"sogclr_bimodal", at_unit_rows},
    {"isogclr_bimodal", at_unit_rows},
    {"batch selection", selection},
    {"tower", tower},
};

/* "simclr_tau0.5" is the objective "simclr"; pictures have none. */
static void
objective_of(const struct file *file, char name[64])
{
    const char *text =
        json_string_value(json_object_get(file->metadata, "objective"));
    const char *tau = text ? strstr(text, "_tau") : NULL;

    if (!text && json_object_get(file->metadata, "layout"))
        text = "augment";
    if (!text)
        text = json_string_value(json_object_get(file->metadata, "kind"));
    snprintf(name, 64, "%s", text ? text : "no objective");
    if (tau && strspn(tau + 4, "0123456789.") && tau - text < 64)
        name[tau - text] = 0;
}

/* The worst so far, as a multiple of its limit, and how many files there are:
 * of a failed one something is wrong, or nothing could be compared. */
struct worst {
    char what[256];
    double times;
    size_t files, compared, skipped, failed;
};

/* Returns how many quantities are out of tolerance. */
static size_t
report(const struct file *file, struct worst *worst)
{
    static const char *const unit[] = {"relative", "levels", "ratio"};
    size_t wrong = 0;

    for (size_t i = 0; i < file->n_quantities; i++) {
        const struct quantity *q = file->quantity + i;
        const double limit = q->limit > 0 ? q->limit : tolerance;
        const double times =
            q->unit == RATIO ? limit / q->value : q->value / limit;
        const int good = times <= 1;
        char line[192];

        snprintf(line, sizeof line, "%s\t%s\t%.*g\t%s", file->name, q->name,
                 q->unit == RATIO ? 5 : 3, q->value, unit[q->unit]);
        if (q->unit == RATIO)
            printf("%s, at least %g\t%s\n", line, limit,
                   good ? "ok" : "FAILED");
        else
            printf("%s\t%s\n", line, good ? "ok" : "FAILED");
        wrong += !good;
        // a ratio is near its limit when all is well
        if (worse(worst->times, times) <= worst->times ||
            (q->unit == RATIO && good))
            continue;
        worst->times = worse(worst->times, times);
        snprintf(worst->what, sizeof worst->what, "%s", line);
    }
    return wrong;
}

/* Compare a file with the reference; 1 where foil does not have its objective,
 * -1 where it cannot be read. */
static int
compare_file(struct file *file, struct err *err)
{
    const size_t n = sizeof handlers / sizeof *handlers;
    char objective[64];
    size_t i = 0;

    objective_of(file, objective);
    while (i < n && strcmp(handlers[i].objective, objective))
        i++;
    if (i == n) {
        printf("%s\tskipped\tfoil does not have: %s\n", file->name, objective);
        return 1;
    }
    if (handlers[i].run(file, objective, err))
        return -1;
    return file->n_quantities ? 0 : err_set(err, "there is nothing to compare");
}

static void
check(const char *dir, const char *name, struct worst *worst)
{
    char *path = mem_format("%s/%s", dir, name);
    struct file file = {.name = name};
    struct err err;
    int rc = nn_arrays_read(path, &file.array, &file.n, &file.metadata, &err);

    if (!rc)
        rc = compare_file(&file, &err);
    if (rc < 0)
        printf("%s\tFAILED\t%s\n", name, err.msg);
    worst->files++;
    worst->compared += rc == 0;
    worst->skipped += rc > 0;
    worst->failed += report(&file, worst) || rc < 0;
    nn_arrays_free(file.array, file.n);
    json_decref(file.metadata);
    free(path);
}

static int
is_safetensors(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');

    return dot && !strcmp(dot, ".safetensors");
}

static const struct opt opts[] = {
    {"tolerance", 't', OPT_REAL, &tolerance, 0, 1, "TOL",
     "largest relative error that is fine"},
    {0},
};

static const struct opt_tool tool = {
    .name = "conformance",
    .summary = "compare foil with the reference implementations",
    .operands = "DIR",
    .at_least = 1,
    .at_most = 1,
    .opts = opts,
};

int
main(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    struct worst worst = {.what = "nothing compared"};
    struct dirent **entry;
    int n = scandir(operand[0], &entry, is_safetensors, alphasort);

    if (n < 0)
        die("cannot read the folder '%s'", operand[0]);
    for (int i = 0; i < n; i++) {
        check(operand[0], entry[i]->d_name, &worst);
        free(entry[i]);
    }
    free(entry);
    if (!worst.files)
        die("there is no .safetensors file in '%s'", operand[0]);
    printf("worst\t%s\t%zu files, %zu skipped, %zu failed\n", worst.what,
           worst.files, worst.skipped, worst.failed);
    close_stdout();
    return worst.failed || !worst.compared ? EXIT_FAILED : EXIT_OK;
}
