#include <string.h>

#include "t.h"
#include "util/clock.h"

static void
spans_are_short(void)
{
    static const struct {
        double seconds;
        const char *text;
    } spans[] = {{0, "0s"},          {59.4, "59s"},     {59.6, "1m00s"},
                 {725, "12m05s"},    {3599.6, "1h00m"}, {11220, "3h07m"},
                 {1e300, "999h59m"}, {-3, "0s"}};
    char text[24];

    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        clock_span(spans[i].seconds, text);
        T(!strcmp(text, spans[i].text), "%g seconds are %s", spans[i].seconds,
          text);
    }
}

/* Without a signal. */
static void
conditions_are_waited_for(void)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t cond;
    const double start = clock_now();
    int over;

    clock_cond_init(&cond);
    pthread_mutex_lock(&lock);
    do // spurious wake-ups are possible
        over = !clock_cond_wait(&cond, &lock, 0.01);
    while (!over);
    T(clock_now() - start >= 0.01, "a wait of 10 ms is not shorter");
    T(!clock_cond_wait(&cond, &lock, 0) && !clock_cond_wait(&cond, &lock, -1),
      "a wait of 0 s ends, too");
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&cond);
}

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
    T(last > now, "a clock for waiting goes forward");
    T(clock_cpu() > cpu, "work takes processor time");
    T(clock_cpu_of(pthread_self()) > 0 &&
          clock_cpu_of(pthread_self()) <= clock_cpu(),
      "the only thread used no more than the process");
    T(clock_cpu() < 3600, "of this process, not the time of day");
    T(wall > 1600000000ull * 1000000000 && clock_wall() >= wall,
      "the wall clock counts nanoseconds since 1970");
    spans_are_short();
    conditions_are_waited_for();
    return t_done();
}
