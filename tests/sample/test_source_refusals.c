/* What a source of negatives refuses, and states that are not its own. */
#include "t.h"

#include "source_run.h"

static void
refusals(void)
{
    struct run *run = mem_array(1, sizeof *run);
    struct weights w;
    struct err err = {""};

    begin(run, "emc2 row burn-in=6", 0); // V (B - 1)
    T(weigh(run, 0, &w, &err) && run->source.memory.total == 0,
      "nothing to record: %s", err.msg);
    sample_source_release(&run->source);
    begin(run, "emc2 row", 0);
    T(!weigh(run, 0, &w, &err), "half of it");
    run->A = 3;
    T(weigh(run, 1, &w, &err), "other views: %s", err.msg);
    sample_source_release(&run->source);
    begin(run, "emc2 row", 3);
    run->A = 0;
    stand(run, 0, (struct sample_state[V * B]){{9, 0, 0}, {9, 1, 0}});
    run->A = 3;
    draw(run, 0);
    T(run->extras[0].n == 0 && weigh(run, 0, &w, &err),
      "chains of other views draw nothing: %s", err.msg);
    sample_source_release(&run->source);
    begin(run, "emc2 row", 3);
    run->source.memory.form.size = (size_t)1 << 29;
    T(weigh(run, 0, &w, &err) && strstr(err.msg, "8 GiB"),
      "more than is kept: %s", err.msg);
    run->source.memory.form.size = N;
    sample_source_release(&run->source);
    begin(run, "emc2 all4", 3);
    T(weigh(run, 0, &w, &err), "one chain for views that differ: %s", err.msg);
    sample_source_release(&run->source);
    free(run);
}

/* A state that another sampler has kept, or that lacks something. */
static void
states_of_others(void)
{
    static const char *const others[] = {"emc2 bank", "emc2 row scores=stale",
                                         "cache"};
    struct run *run = mem_array(1, sizeof *run);
    struct weights w;
    struct sample_store store;
    struct err err = {""};

    begin(run, "emc2 row", 0);
    sample_store_init(&store);
    T(sample_source_load(&run->source, &store, 9, &err) &&
          strstr(err.msg, "of 9 steps has no table 'chain'"),
      "nothing was kept: %s", err.msg);
    REQUIRE(!weigh(run, 0, &w, &err));
    keep_tables(&store, &w);
    for (size_t i = 0; i < 3; i++) {
        const struct sample_settings how = how_of(others[i]);
        struct sample_source other;

        sample_source_init(&other, &how, N);
        T(sample_source_load(&other, &store, 1, &err) &&
              strstr(err.msg, "sampler 'emc2 1', and this is '"),
          "%s", err.msg);
        sample_source_release(&other);
    }
    sample_source_begin(&run->source, 5);
    T(run->source.memory.total == 5 && !run->source.memory.chains.state,
      "it begins anew after steps without it");
    sample_store_release(&store);
    sample_source_release(&run->source);
    free(run);
}

/* The bank of a run has so many rows of a sample, and keeps them. */
static void
banks_keep_their_form(void)
{
    struct run *run = mem_array(1, sizeof *run);
    struct weights w;
    struct err err = {""};

    begin(run, "emc2 bank moves=5 horizon=1 burn-in=0", 2);
    REQUIRE(!weigh(run, 0, &w, &err));
    run->A = 0; // two views, as before
    draw(run, 1);
    T(!run->extras[1].n && weigh(run, 1, &w, &err) &&
          strstr(err.msg, "1 rows of a sample where the bank so far has 2"),
      "views drawn anew after fixed ones: %s", err.msg);
    sample_source_release(&run->source);
    free(run);
}

int
main(void)
{
    states_of_others();
    banks_keep_their_form();
    refusals();
    return t_done();
}
