#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/metrics.h"
#include "t.h"
#include "util/file.h"

/* Writes the file, and reads its next step. */
static int
read_text(struct run_metrics *step, const char *text)
{
    struct err err;

    run_lines_release(&step->lines);
    *step = (struct run_metrics){.n = 0};
    if (file_write(RUN_METRICS, text, strlen(text), &err))
        printf("# %s\n", err.msg);
    return run_metrics_next(step, ".");
}

/* Whether number i of a step has that name and value. */
static int
is(const struct run_metrics *step, size_t i, const char *name, double x)
{
    return i < step->n && !strcmp(step->value[i].name, name) &&
           step->value[i].value == x;
}

static void
names_of_an_older_foil_are_new_ones(struct run_metrics *step)
{
    T(read_text(step, "{\"total\":7,\"own_class\":0.5,\"gradient\":2,"
                      "\"rate\":0.1,\"known\":1,\"plan\":{\"known\":3},"
                      "\"behind\":4}\n") &&
          is(step, 1, "same_class_weight", 0.5) &&
          is(step, 2, "grad_norm", 2) && is(step, 3, "lr", 0.1) &&
          is(step, 4, "bank_filled", 1) &&
          is(step, 5, "plan.with_features", 3) && is(step, 6, "rank_lag", 4),
      "metrics of an older version have the new names");
    T(read_text(step, "{\"refused\":\"nan\",\"slowest\":1}\n") &&
          is(step, 0, "slowest_rank", 1),
      "steps that were not applied have the new names");
    T(read_text(step, "{\"lr\":0.1,\"weight\":1,\"gradient\":2}\n") &&
          is(step, 1, "weight", 1) && is(step, 2, "gradient", 2),
      "later, a program's numbers may have the old names");
    T(!strcmp(run_metrics_old_name("rank_lag"), "behind") &&
          !run_metrics_old_name("loss"),
      "a metric has an old name, or none");
}

int
main(void)
{
    static struct run_metrics step;
    static char many[16 * WIRE_METRICS_MAX] = "{\"x\":0";
    char folder[] = "/tmp/metrics-XXXXXX";

    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    T(read_text(
          &step,
          "{\"total\":7,\"loss\":0.5,\"note\":\"text\",\"no\":null,"
          "\"a234567890123456789012345678901234567890123456789012345678901234\""
          ":1}\n") &&
          step.n == 2 && !strcmp(step.value[0].name, "total") &&
          step.value[0].value == 7 && !strcmp(step.value[1].name, "loss") &&
          step.value[1].value == 0.5,
      "numbers in order, without texts, null and a name of 64 bytes");
    T(read_text(&step, "otal\":7,\"loss\":0.5}\n[1]\n\n{}\n{\"total\":8}\n") &&
          step.n == 1 && step.value[0].value == 8 &&
          !run_metrics_next(&step, "."),
      "lines without numbers are skipped");
    T(read_text(&step, "{\"total\":7,\"plan\":{\"strategy\":\"swap\","
                       "\"mean\":2,\"in\":{\"it\":3}},\"loss\":1}\n") &&
          step.n == 3 && !strcmp(step.value[1].name, "plan.mean") &&
          step.value[1].value == 2 && !strcmp(step.value[2].name, "loss"),
      "numbers of a nested object have both names");
    names_of_an_older_foil_are_new_ones(&step);
    for (int i = 1; i < WIRE_METRICS_MAX + 5; i++)
        snprintf(many + strlen(many), 32, ",\"%d\":%d", i, i);
    strcat(many, "}\n");
    T(read_text(&step, many) && step.n == WIRE_METRICS_MAX &&
          !run_metrics_next(&step, "."),
      "no more than fit");
    T(!truncate(RUN_METRICS, 0) && run_metrics_next(&step, ".") && !step.n &&
          !run_metrics_next(&step, "."),
      "returned steps are gone: reported once");
    run_lines_release(&step.lines);
    unlink(RUN_METRICS);
    if (!chdir("/"))
        rmdir(folder);
    return t_done();
}
