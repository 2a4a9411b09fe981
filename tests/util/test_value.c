#include <math.h>
#include <string.h>

#include "t.h"
#include "util/value.h"

int
main(void)
{
    static struct values a;
    char name[100];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    values_add(&a, "loss", 0.5);
    values_add_count(&a, "moved", 12);
    values_add(&a, name, 3);
    T(a.n == 3 && !strcmp(a.value[0].name, "loss") && !a.value[0].whole,
      "numbers stay in their order");
    T(value_find(a.value, a.n, "moved") == 12 && a.value[1].whole,
      "a count is marked as one");
    T(strlen(a.value[2].name) == VALUE_NAME - 1, "a long name is cut");
    T(isnan(value_find(a.value, a.n, "tau")), "an unknown name returns NaN");
    values_add(&a, "moved", 0.5);
    values_add_count(&a, "loss", 2);
    T(a.n == 3 && value_find(a.value, a.n, "moved") == 0.5 &&
          !a.value[1].whole && a.value[0].value == 2 && a.value[0].whole,
      "a number replaces that of the same name");
    return t_done();
}
