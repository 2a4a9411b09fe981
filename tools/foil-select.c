/* foil-select decides which samples share a mini-batch, and sends the batches
 * to the peers that request them: a plan, leases, one loop.  If plans are made
 * from features, threads make them. */
#include <stdlib.h>
#include <string.h>

#include "data/set.h"
#include "foil-select/select.h"
#include "num/room.h"
#include "num/threads.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

NUM_ROOM_FIRST

enum { FEW = 100 }; // images: too few to train an encoder

static void
open_data(struct selector *s)
{
    struct err err;

    // image files are not read here
    s->set = data_open_parts_or_die(s->options->operand[0], 1);
    s->task = select_options_task(s->options, data_size(s->set));
    if (s->options->windows)
        s->task.windows = select_open_windows(
            s->set, (size_t)s->options->windows, s->task.seed);
    s->plan = select_plan_new(s->options->strategy, &s->task);
    select_options_print(s->options, s->plan_options);
    if (s->options->features != FEATURES_EVAL)
        return;
    or_die(select_layout_make(data_size(s->set), (size_t)s->options->batch,
                              SELECT_KEEP, &s->eval_pass, &err),
           &err);
    s->all = mem_array(data_size(s->set), sizeof *s->all);
    for (size_t i = 0; i < data_size(s->set); i++)
        s->all[i] = (int64_t)i;
}

static struct wire_hello
make_hello(const struct selector *s)
{
    char hex[DIGEST_HEX];

    return stage_hello("select", digest_hex(data_digest(s->set), hex),
                       (int64_t)data_size(s->set));
}

/* Adds the windows to a hello: augmenters fetch the shards of the next one. */
static void
add_windows(const struct selector *s, struct wire_hello *hello)
{
    size_t shards;
    struct err err;

    if (!s->task.windows)
        return;
    free(data_shards(s->set, &shards, &err));
    hello->windows = s->options->windows;
    hello->windows_seed = s->options->seed;
    hello->windows_shards = (int64_t)shards;
    hello->windows_fixed = !strcmp(s->options->strategy->name, "fixed");
}

static void
open_outlet(struct selector *s)
{
    const char *run = s->options->stage.run;
    struct flow_outlet_config config = {
        .server = {.endpoint =
                       stage_endpoint(&s->stage, s->options->plan, "plan"),
                   .hello = make_hello(s)},
        .lease = s->options->lease,
        .check_place = select_check_place,
        .tool = s,
    };
    struct err err;

    add_windows(s, &config.server.hello);
    if (!config.server.endpoint)
        opt_misuse("needs -r DIR or --plan ENDPOINT");
    or_die(run && file_mkdir(run, 0700, &err), &err);
    s->outlet = flow_outlet_open(s->stage.wire, &config, &err);
    or_die(!s->outlet, &err);
}

static void
open_planner(struct selector *s)
{
    const struct planner_config config = {
        .strategy = s->options->strategy,
        .command = s->command,
        .task = s->task,
        .endpoint = stage_endpoint(&s->stage, s->options->trainer, "features"),
        .keys = s->options->stage.keys ? &s->stage.keys : NULL,
        .hello = make_hello(s),
        .threads = (int)s->options->threads,
        .half = s->options->half,
    };
    struct err err;

    if (!config.endpoint)
        opt_misuse("needs -r DIR or --trainer ENDPOINT: '%s' plans from "
                   "features",
                   s->options->strategy->name);
    s->planner = planner_open(&config, &err);
    or_die(!s->planner, &err);
}

/* Returns 1 if a planner thread still works. */
static int
release_selector(struct selector *s)
{
    int planning;

    select_quarantine_release(&s->bad);
    flow_outlet_close(s->outlet);
    planning = planner_close(s->planner);
    if (!planning)
        select_command_close(s->command);
    select_plan_free(s->plan);
    select_plan_free(s->rest.plan);
    select_windows_free(s->rest.windows);
    select_windows_free(s->task.windows);
    data_close(s->set);
    mem_free(s->previous, s->all, (void *)s->task.group);
    return planning;
}

static void
run_selector(struct selector *s)
{
    const struct select_options *o = s->options;
    struct err err;
    int planning;

    stage_open(&s->stage, &o->stage);
    open_data(s);
    if (data_size(s->set) < FEW)
        log_message(
            "%zu image%s: too few to train an encoder; below about 500 a "
            "pretrained one is better",
            data_size(s->set), plural(data_size(s->set)));
    open_outlet(s);
    if (o->command) {
        s->command = select_command_open(o, make_hello(s).digest, &err);
        or_die(!s->command, &err);
    }
    if (o->command || select_options_use_features(o, o->strategy))
        open_planner(s);
    select_serve(s);
    select_report(&s->bad, s->set, o->quarantine);
    planning = release_selector(s);
    stage_close(&s->stage);
    if (planning) // exit handlers would free memory that the thread uses
        _Exit(EXIT_OK);
}

int
main(int argc, char **argv)
{
    struct selector s = {0};

    num_threads_sleep(argv);
    s.options = select_options_get(argc, argv);
    if (s.options->list >= 0) {
        select_print_list(s.options);
        close_stdout();
    } else if (s.options->dry) {
        open_data(&s);
        select_print_needs(s.options, &s.task, s.plan);
        release_selector(&s);
        close_stdout();
    } else if (s.options->score) {
        end_when_stopped();
        select_score_files(s.options);
    } else {
        run_selector(&s);
    }
    return EXIT_OK;
}
