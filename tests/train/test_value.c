#include <string.h>

#include "t.h"
#include "train/value.h"

int
main(void)
{
    static struct train_values a;
    char name[100];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    train_values_add(&a, "loss", 0.5);
    train_values_count(&a, "moved", 12);
    train_values_add(&a, name, 3);
    T(a.n == 3 && !strcmp(a.value[0].name, "loss") && !a.value[0].whole,
      "numbers stay in their order");
    T(train_values_find(&a, "moved")->value == 12 &&
          train_values_find(&a, "moved")->whole,
      "a count is known as one");
    T(strlen(a.value[2].name) == TRAIN_NAME_MAX - 1, "a long name is cut");
    T(!train_values_find(&a, "tau"), "a name that there is not gives NULL");
    return t_done();
}
