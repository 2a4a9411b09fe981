#include "loss/objective.h"
#include "util/mem.h"

void
loss_report_more(struct loss_report *report, const char *name, double value)
{
    REQUIRE(report->n_more < LOSS_MORE);
    report->more[report->n_more++] = (struct loss_metric){name, value};
}
