#include "t.h"
#include "util/clock.h"

int
main(void)
{
    double now = clock_now(), cpu = clock_cpu(), last = now;
    uint64_t wall = clock_wall();
    int back = 0;

    for (int i = 0; i < 100000; i++) {
        double t = clock_now();

        back += t < last;
        last = t;
    }
    T(!back, "a clock for waiting never goes back");
    T(last > now, "but forward");
    T(clock_cpu() > cpu, "work takes processor time");
    T(clock_cpu() < 3600, "our own, not the time of day");
    T(wall > 1600000000ull * 1000000000 && clock_wall() >= wall,
      "the wall clock counts nanoseconds since 1970");
    return t_done();
}
