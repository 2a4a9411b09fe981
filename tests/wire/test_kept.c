#include "t.h"
#include "wire/next.h"
#include "wire/request.h"

int
main(void)
{
    static struct wire_kept kept;
    struct wire_msg *one = wire_beat_put(&(struct wire_beat){0}),
                    *two = wire_beat_put(&(struct wire_beat){0});
    char name[16];

    T(!wire_kept_find(&kept, "a", 1), "empty");
    wire_kept_put(&kept, "a", 1, one);
    T(wire_kept_find(&kept, "a", 1) == one, "kept");
    T(!wire_kept_find(&kept, "b", 1), "for its asker");
    T(!wire_kept_find(&kept, "a", 2), "and its request");
    wire_kept_put(&kept, "a", 2, two);
    T(wire_kept_find(&kept, "a", 2) == two,
      "[the id that was answered last] the last one");
    T(!wire_kept_find(&kept, "a", 1), "and the one before is forgotten");
    T(wire_kept_late(&kept, "a", 1) && !wire_kept_late(&kept, "a", 3) &&
          !wire_kept_late(&kept, "b", 1),
      "[an id below that] it is late, of that asker");
    for (int i = 1; i < WIRE_KEPT_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i);
        wire_kept_put(&kept, name, 1, one);
    }
    T(wire_kept_find(&kept, "a", 2) == two, "as many askers as there is room");
    wire_kept_put(&kept, "late", 1, one);
    T(!wire_kept_find(&kept, "a", 2), "one more: the oldest makes room");
    T(wire_kept_find(&kept, "n1", 1) == one, "no other does");
    wire_kept_release(&kept);
    wire_kept_release(&kept);
    wire_msg_free(one);
    wire_msg_free(two);
    return t_done();
}
