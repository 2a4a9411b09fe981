#include <float.h>
#include <string.h>

#include "sample/chains.h"
#include "t.h"

enum { N = 5, V = 2, B = 3 };

static const int64_t ids[B] = {4, 0, 2};

static void
what_is_put_is_got(void)
{
    struct sample_state in[V * B], out[V * B];
    struct sample_chains chains;
    int64_t other = 3;

    sample_chains_init(&chains, N, V);
    sample_chains_get(&chains, V, B, ids, NULL, out, NULL);
    T(out[0].id == -1 && out[V * B - 1].view == -1, "no chain has begun");

    for (int r = 0; r < V * B; r++)
        in[r] = (struct sample_state){ids[(r + 1) % B], r % V};
    sample_chains_put(&chains, V, B, ids, NULL, in, NULL);
    sample_chains_get(&chains, V, B, ids, NULL, out, NULL);
    T(!memcmp(in, out, sizeof in), "a batch's states come back");
    T(chains.state[4 * V + 1].id == in[B].id, "row b is view 1 of image 0");
    sample_chains_get(&chains, V, 1, &other, NULL, out, NULL);
    T(out[0].id == -1 && out[1].id == -1, "another image's do not move");
    sample_chains_release(&chains);
    sample_chains_release(&chains);
}

/* Where variants are named, they are what a chain goes by. */
static void
chains_of_variants(void)
{
    enum { A = 4 };
    static const int64_t variants[V * B] = {3, 0, 1, 2, 1, 3};
    struct sample_state in[V * B], out[V * B];
    float score[V * B], got[V * B];
    struct sample_chains chains;

    sample_chains_init(&chains, N, A);
    sample_chains_get(&chains, V, B, ids, variants, out, got);
    T(out[0].id == -1 && got[V * B - 1] == -FLT_MAX, "no chain has a score");
    for (int r = 0; r < V * B; r++) {
        in[r] = (struct sample_state){ids[(r + 1) % B], r % A};
        score[r] = (float)r;
    }
    sample_chains_put(&chains, V, B, ids, variants, in, score);
    sample_chains_get(&chains, V, B, ids, variants, out, got);
    T(!memcmp(in, out, sizeof in) && !memcmp(score, got, sizeof got),
      "states come back, scores with them");
    T(chains.score[4 * A + 3] == 0 && chains.score[4 * A + 2] == 3 &&
          chains.score[2 * A + 3] == 5 && chains.score[4 * A] == -FLT_MAX,
      "a chain for each variant");
    sample_chains_put(&chains, V, B, ids, variants, in, NULL);
    T(chains.score[4 * A + 2] == 3, "scores that are not given stay");
    sample_chains_release(&chains);
}

static void
states_from_outside_are_judged(void)
{
    static const struct sample_state bad[] = {
        {N, 0}, {-2, 0}, {1, V}, {1, -1}, {-1, 0},
    };
    struct sample_state state[N * V];
    float score[N * V] = {0};
    struct sample_chains chains;
    struct err err;

    sample_chains_init(&chains, N, V);
    for (int i = 0; i < N * V; i++)
        state[i] = (struct sample_state){(i / V + 1) % N, i % V};
    T(!sample_chains_load(&chains, state, NULL, &err) &&
          !memcmp(state, chains.state, sizeof state) &&
          chains.score[1] == -FLT_MAX,
      "good ones are taken");
    score[7] = -FLT_MAX;
    score[1] = 2;
    T(!sample_chains_load(&chains, state, score, &err) &&
          !memcmp(score, chains.score, sizeof score),
      "with their scores");
    score[1] = 3;
    for (int i = 0; i < 2; i++) {
        score[7] = i ? NAN : INFINITY;
        T(sample_chains_load(&chains, state, score, &err) &&
              strstr(err.msg, "sample 3, view 1 has no score") &&
              chains.score[1] == 2,
          "refused, nothing changed: %s", err.msg);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sample_state keep = state[3 * V + 1];

        state[3 * V + 1] = bad[i];
        state[0].view = 1 - state[0].view;
        T(sample_chains_load(&chains, state, NULL, &err) &&
              strstr(err.msg, "sample 3, view 1") &&
              chains.state[0].view != state[0].view,
          "refused, nothing changed: %s", err.msg);
        state[3 * V + 1] = keep;
        state[0].view = 1 - state[0].view;
    }
    sample_chains_release(&chains);
}

int
main(void)
{
    what_is_put_is_got();
    chains_of_variants();
    states_from_outside_are_judged();
    return t_done();
}
