#include <math.h>
#include <string.h>

#include "t.h"
#include "wire/metrics.h"

int
main(void)
{
    static struct value values[WIRE_METRICS_MAX];
    static char many[16 * WIRE_METRICS_MAX] = "{\"x\":0";
    static const char line[] =
        "{\"total\":7,\"loss\":0.5,\"note\":\"text\",\"no\":null,"
        "\"a234567890123456789012345678901234567890123456789012345678901234\":1"
        "}";

    T(wire_metrics_read(values, line) == 2 &&
          !strcmp(values[0].name, "total") && values[0].value == 7 &&
          !strcmp(values[1].name, "loss") && values[1].value == 0.5,
      "numbers in their order, without texts, null and a name of 64 bytes");
    T(value_find(values, 2, "loss") == 0.5 &&
          isnan(value_find(values, 1, "loss")) &&
          isnan(value_find(values, 2, "los")),
      "one by its name, NaN where none has it");
    T(!wire_metrics_read(values, "otal\":7,\"loss\":0.5}") &&
          !wire_metrics_read(values, "[1]") && !wire_metrics_read(values, ""),
      "of what is no object there is none");
    T(wire_metrics_read(values,
                        "{\"total\":7,\"plan\":{\"strategy\":\"swap\","
                        "\"mean\":2,\"in\":{\"it\":3}},\"loss\":1}") == 3 &&
          !strcmp(values[1].name, "plan.mean") && values[1].value == 2 &&
          !strcmp(values[2].name, "loss"),
      "those of an object in it, by both names");
    for (int i = 1; i < WIRE_METRICS_MAX + 5; i++)
        snprintf(many + strlen(many), 32, ",\"%d\":%d", i, i);
    strcat(many, "}");
    T(wire_metrics_read(values, many) == WIRE_METRICS_MAX, "no more than fit");
    return t_done();
}
