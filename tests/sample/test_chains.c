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

static void
states_from_outside_are_judged(void)
{
    static const struct sample_state bad[] = {
        {N, 0}, {-2, 0}, {1, V}, {1, -1}, {-1, 0},
    };
    struct sample_state state[N * V];
    struct sample_chains chains;
    struct err err;

    sample_chains_init(&chains, N, V);
    for (int i = 0; i < N * V; i++)
        state[i] = (struct sample_state){(i / V + 1) % N, i % V};
    T(!sample_chains_load(&chains, state, NULL, &err) &&
          !memcmp(state, chains.state, sizeof state),
      "good ones are taken");
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
    states_from_outside_are_judged();
    return t_done();
}
