#include <string.h>

#include "t.h"
#include "train/config.h"

int
main(void)
{
    const struct train_state out = {
        1, 2, 30, 4, 50, 600, 7, 8, 9, "--strategy shuffle -b 4 -s 0", "0f1e"};
    json_t *object = train_state_put(&out);
    struct train_state in = {0};
    struct err err = {""};

    T(!train_state_get(&in, object, &err) && !memcmp(&in, &out, sizeof in),
      "a state is restored: %s", err.msg);
    T(json_integer_value(json_object_get(object, "total")) == 50,
      "each number has its name");
    json_object_set(object, "alone",
                    json_object_get(object, "steps_without_service"));
    json_object_del(object, "steps_without_service");
    in = (struct train_state){0};
    T(!train_state_get(&in, object, &err) && !memcmp(&in, &out, sizeof in),
      "a state of an older version: %s", err.msg);
    json_object_set_new(object, "plan", json_integer(1));
    T(train_state_get(&in, object, &err) && strstr(err.msg, "plan"),
      "a plan that is no text is refused: %s", err.msg);
    json_object_del(object, "plan");
    json_object_del(object, "order");
    T(!train_state_get(&in, object, &err) && !*in.plan && !*in.order,
      "plan and order may be missing");
    json_object_set_new(object, "step", json_integer(-1));
    T(train_state_get(&in, object, &err) && strstr(err.msg, "step"),
      "a step below 0 is refused: %s", err.msg);
    json_object_del(object, "step");
    T(train_state_get(&in, object, &err) && strstr(err.msg, "step"),
      "a missing one too: %s", err.msg);
    json_decref(object);
    return t_done();
}
