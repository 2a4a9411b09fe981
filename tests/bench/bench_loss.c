#include <stdio.h>
#include <stdlib.h>

#include "loss/objective.h"
#include "num/threads.h"
#include "shortest.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_loss OBJECTIVE PAIRS DIM THREADS STEPS: the shortest time of loss and
 * gradient of a batch, in ms, and the peak memory, in MB.  The second view of
 * an image is near the first.  The first step is not counted.
 */
struct bench {
    const struct loss_objective *objective;
    struct loss_settings set;
    struct loss_batch batch;
    float *z, *dz, *work, *state;
};

static void
step(void *bench, size_t i)
{
    struct bench *b = bench;
    struct loss_report report;

    (void)i;
    loss_objective_run(b->objective, &b->set, &b->batch, b->z, b->state, b->dz,
                       b->work, &report);
}

int
main(int argc, char **argv)
{
    struct bench b = {0};
    struct err err;
    struct rng rng;
    size_t half, states;

    if (argc != 6)
        return 2;
    num_threads_sleep(argv); // as foil-train does
    num_threads(atoi(argv[4]));
    b.objective = loss_objective_find(argv[1], &err);
    if (!b.objective) {
        fprintf(stderr, "bench_loss: %s\n", err.msg);
        return 1;
    }
    b.set = loss_settings_of(b.objective);
    b.batch = (struct loss_batch){.b = strtoul(argv[2], NULL, 10),
                                  .dim = strtoul(argv[3], NULL, 10)};
    half = b.batch.b * b.batch.dim;
    b.z = mem_unset(2 * half, sizeof *b.z);
    b.dz = mem_unset(2 * half, sizeof *b.dz);
    b.work =
        mem_unset(loss_objective_size(b.objective, &b.batch), sizeof *b.work);
    states = loss_objective_states(b.objective, b.batch.b);
    b.state = mem_array(states * b.objective->columns + 1, sizeof *b.state);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < half; i++) {
        b.z[i] = (float)rng_normal(&rng);
        b.z[half + i] = b.z[i] + (float)rng_normal(&rng);
    }
    print_shortest(step, &b, strtoul(argv[5], NULL, 10), clock_for(argv[4]));
    mem_free(b.z, b.dz, b.work, b.state);
    return 0;
}
