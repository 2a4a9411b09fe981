#include <math.h>

#include "t.h"
#include "wire/metrics.h"

int
main(void)
{
    static const struct wire_metric values[] = {{"total", 7}, {"loss", 0.5}};

    T(wire_metrics_find(values, 2, "loss") == 0.5 &&
          isnan(wire_metrics_find(values, 1, "loss")) &&
          isnan(wire_metrics_find(values, 2, "los")),
      "one by its name, NaN where none has it");
    return t_done();
}
