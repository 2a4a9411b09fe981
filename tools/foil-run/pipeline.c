#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hold.h"
#include "pipeline.h"
#include "util/file.h"
#include "util/opt.h"

/* Options of all pipelines. */
static void
add_common(struct pipeline *p)
{
    static const struct {
        const char *name, *arg, *value, *what;
    } rows[] = {
        {"epochs", "N", "100", "epochs of the whole run"},
        {"batch", "N", "256", "images in a batch"},
        {"objective", "NAME", "simclr", "one of foil-train --list objectives"},
        {"augmenters", "N", "2", "number of augmenters"},
        {"threads", "N", NULL, "threads of the trainer"},
        {"seed", "N", "1", "seed of all random numbers"},
        {"restarts", "N", "3", "most restarts of a killed feeder"},
        {"ranks", "N", "1",
         "processes of the trainer, by mpirun: foil-ranks(7)"},
        {"hosts", "FILE", "", "machines of these, a hostfile of mpirun"},
    };
    const char *cores = keep("%ld", sysconf(_SC_NPROCESSORS_ONLN));

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        pipeline_row_add(p, rows[i].name, rows[i].arg, rows[i].what);
        set_var(p, rows[i].name, rows[i].value ? rows[i].value : cores);
    }
    set_var(p, "grace", "10");
    for (int i = 0; i < N_STAGES; i++)
        set_var(p, keep("%s-command", pipeline_stages[i]),
                keep("foil-%s", pipeline_stages[i]));
}

int
pipeline_is(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int is = 0;

    while (file && fgets(line, sizeof line, file) &&
           (*line == '#' || *line == '\n'))
        continue;
    if (file) {
        is = !feof(file) && !strncmp(line, "pipeline", 8) &&
             strchr(" \t\n", line[8]);
        fclose(file);
    }
    return is;
}

/* Its names: behind `foil run`, and to be remembered by. */
static void
name_pipeline(struct pipeline *p, const char *folder)
{
    const size_t n = strlen(folder);
    const char *dot = strrchr(p->path, '.');

    if (!strncmp(p->path, folder, n) && p->path[n] == '/') {
        const char *name = p->path + n + 1;

        p->name = keep("%.*s", (int)(dot ? (size_t)(dot - name) : strlen(name)),
                       name);
        p->known = p->name;
        return;
    }
    p->name = keep("%s", p->path);
    p->known = pipeline_absolute(p->path);
}

static void
set_places(struct pipeline *p)
{
    const char *folder = getenv("FOIL_PIPELINES");
    const char *slash = strrchr(p->path, '/');

    if (!folder)
        folder = slash ? keep("%.*s", (int)(slash - p->path), p->path) : ".";
    name_pipeline(p, folder);
    set_var(p, "parts", keep("%s/parts", folder));
    set_var(
        p, "RUN",
        hold_name(*p->known == '/' ? strrchr(p->known, '/') + 1 : p->known));
    say_as(keep("foil run %s", p->name));
}

/* Says where everything is, where something was learnt. */
static void
conclude_run(const struct pipeline *p)
{
    if (p->learnt == LEARNT_NOT)
        return;
    say("%s: '%s' has the encoder in latest/, its steps in metrics.jsonl%s%s",
        p->learnt == LEARNT_NOW
            ? "the run is over"
            : "the run was over before, and nothing is left to train",
        var(p, "RUN"), run_has(p, "results.jsonl") ? ", results.jsonl" : "",
        run_has(p, "loss.png") ? ", loss.png" : "");
}

void
pipeline_main(char **argv)
{
    static struct pipeline p = {.held = -1};
    struct err err;
    size_t len;

    p.path = argv[1];
    p.text = file_read(p.path, LIST_MAX_BYTES, &len, &err);
    if (!p.text)
        die("%s", err.msg);
    add_common(&p);
    set_places(&p);
    script_declare(&p, p.name, p.text);
    set_var(&p, "usual", var(&p, "objective"));
    step_watch();
    pipeline_command_line(&p, argv + 2);
    script_run(&p, p.name, p.text);
    conclude_run(&p);
    close_stdout();
    exit(EXIT_OK);
}
