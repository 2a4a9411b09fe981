/*
 * A training loop in C with an objective of foil: it trains the embeddings of
 * 1,000 samples instead of an encoder's weights, prints the loss of each epoch,
 * and saves the objective's state in a folder.
 *
 *     cc -o loop loop.c $(pkg-config --cflags --libs foil)
 *     mkdir state
 *     ./loop isogclr state
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/objective.h"

enum { N = 1000, B = 50, D = 16, EPOCHS = 5 };

static float table[2][N][D]; /* of each sample, in two views */

/* One step over samples first .. first + B - 1; returns the loss. */
static double
step(struct train_objective *loss, int64_t first)
{
    const float rate = 2;
    static float z[2 * B][D], dz[2 * B][D];
    int64_t ids[B];
    const struct train_objective_batch batch = {
        .b = B, .dim = D, .ids = ids, .z = *z};
    struct err err;
    double value;

    for (int r = 0; r < 2 * B; r++) {
        ids[r % B] = first + r % B;
        memcpy(z[r], table[r / B][first + r % B], sizeof z[r]);
    }
    if (train_objective_step(loss, &batch, *dz, &value, &err)) {
        fprintf(stderr, "loop: %s\n", err.msg);
        exit(1);
    }
    for (int r = 0; r < 2 * B; r++)
        for (int i = 0; i < D; i++)
            table[r / B][first + r % B][i] -= rate * dz[r][i];
    return value;
}

int
main(int argc, char **argv)
{
    struct err err;
    struct train_objective *loss =
        argc == 3 ? train_objective_open(argv[1], NULL, N, 0, &err) : NULL;

    if (!loss) {
        fprintf(stderr, "loop: %s\n",
                argc == 3 ? err.msg : "usage: loop OBJECTIVE FOLDER");
        return 2;
    }
    for (float *x = **table; x < **table + sizeof table / sizeof *x; x++)
        *x = (float)rand() / (float)RAND_MAX - 0.5f;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double sum = 0;

        for (int64_t first = 0; first < N; first += B)
            sum += step(loss, first);
        printf("%d %.4f\n", epoch, sum * B / N);
    }
    if (train_objective_save(loss, argv[2], &err)) {
        fprintf(stderr, "loop: %s\n", err.msg);
        return 1;
    }
    train_objective_close(loss);
    return 0;
}
