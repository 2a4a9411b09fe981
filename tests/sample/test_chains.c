#include <float.h>
#include <string.h>

#include "sample/chains_put.h"
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
        in[r] = (struct sample_state){ids[(r + 1) % B], r % V, 0};
    chains_put(&chains, V, B, ids, NULL, in, NULL);
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
        in[r] = (struct sample_state){ids[(r + 1) % B], r % A, 0};
        score[r] = (float)r;
    }
    chains_put(&chains, V, B, ids, variants, in, score);
    sample_chains_get(&chains, V, B, ids, variants, out, got);
    T(!memcmp(in, out, sizeof in) && !memcmp(score, got, sizeof got),
      "states come back, scores with them");
    T(chains.score[4 * A + 3] == 0 && chains.score[4 * A + 2] == 3 &&
          chains.score[2 * A + 3] == 5 && chains.score[4 * A] == -FLT_MAX,
      "a chain for each variant");
    chains_put(&chains, V, B, ids, variants, in, NULL);
    T(chains.score[4 * A + 2] == 3, "scores that are not given stay");
    sample_chains_release(&chains);
}

static void
states_from_outside_are_judged(void)
{
    static const struct sample_state bad[] = {
        {N, 0, 0},  {-2, 0, 0},  {1, V, 0},  {1, -1, 0},
        {-1, 0, 0}, {-1, -1, 1}, {1, 0, -1}, {1, 0, 1LL << 32},
    };
    const struct sample_state good = {4, 1, 0};
    const size_t place = 3 * V + 1;
    struct sample_chains chains;
    struct err err;

    sample_chains_init(&chains, N, V);
    T(!sample_chains_set(&chains, place, good, -FLT_MAX, &err) &&
          chains.state[place].id == 4 && chains.score[place] == -FLT_MAX,
      "a good one is taken");
    for (int i = 0; i < 2; i++)
        T(sample_chains_set(&chains, place, good, i ? NAN : INFINITY, &err) &&
              strstr(err.msg, "sample 3, view 1 has no score") &&
              chains.score[place] == -FLT_MAX,
          "refused, nothing changed: %s", err.msg);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(sample_chains_set(&chains, place, bad[i], 0, &err) &&
              strstr(err.msg, "sample 3, view 1") &&
              chains.state[place].id == 4,
          "refused, nothing changed: %s", err.msg);
    T(!sample_chains_set(&chains, place, (struct sample_state){-1, -1, 0}, 0,
                         &err),
      "none is a state, too");
    T(sample_chains_index(&chains, B, ids, NULL, B + 2) == 2 * V + 1,
      "the place of a row");
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
