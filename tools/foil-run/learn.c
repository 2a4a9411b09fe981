#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hold.h"
#include "pipeline.h"
#include "process.h"
#include "util/file.h"
#include "util/opt.h"

enum { LONGEST_RUN = 97 }; // bytes, for the names of the sockets in it

void
pipeline_index(struct pipeline *p, const char *data)
{
    const size_t n = strlen(data);
    const size_t slashes = n && data[n - 1] == '/';
    struct word_list words = {0};

    word_list_put(&words, "foil-data", "index", data, (char *)NULL);
    if (!file_exists(keep("%.*s.foil", (int)(n - slashes), data)) &&
        (n < 5 || strcmp(data + n - 5, ".foil")))
        step_run(p, &words);
}

/* Refuses data that does not fit together, and says what is to be known of it:
 * a line for each by parts/fits.sh, of which the first word says which. */
static void
check_fit(struct pipeline *p, const char *data, const char *test)
{
    struct word_list words = {0};
    char *text, *rest;

    word_list_put(&words, keep("%s/fits.sh", var(p, "parts")),
                  *var(p, "captions") ? "captions" : "labels", data,
                  *test ? test : NULL, (char *)NULL);
    text = step_capture(words.word);
    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        if (!strncmp(line, "die ", 4))
            die("%s", line + 4);
        say("%s", line + 4);
    }
}

/* Whether the last of the measures was taken. */
static int
was_judged(const struct pipeline *p)
{
    struct err ignored;
    size_t len;
    char *text =
        file_read(run_path(p, "results.jsonl"), 1 << 26, &len, &ignored);
    const int was =
        text && strstr(text, *var(p, "captions") ? "{\"measure\":\"captions\""
                                                 : "{\"measure\":\"probe\"");

    free(text);
    return was;
}

/* The list of stages can be read, and its commands are there. */
static void
check_stages(const struct pipeline *p)
{
    struct list list;
    struct err err;

    if (list_read(&list, "stages", p->stages, &err))
        die("%s", err.msg);
    for (size_t i = 0; i < list.n; i++)
        if (process_findable(&list.stage[i], "stages", &err))
            die("%s", err.msg);
}

/* What cannot work is refused before anything is there. */
static void
check_run(const struct pipeline *p, const char *test)
{
    const char *run = var(p, "RUN");

    if (strlen(run) > LONGEST_RUN)
        die("-r has %zu bytes: a run directory has at most %d, for the names "
            "of the sockets in it",
            strlen(run), LONGEST_RUN);
    if (run_has(p, "latest") && !p->resume)
        die("'%s' holds a run: --resume goes on with it, -r takes another",
            run);
    if (*test && has_own_net(p))
        pipeline_misuse(p,
                        "'%s' judges an encoder that foil-embed knows: --arch "
                        "in --train says which that of --encoder is, or leave "
                        "it out",
                        test);
}

/* The data of a run that is resumed are where they were. */
static void
check_place(const struct pipeline *p, const char *data)
{
    if (p->resume && *data && p->operand.n && !file_exists(data))
        die("there is no '%s', the data of the run: where they have moved, "
            "'foil run %s PLACE --resume -r %s --override %s' names the place",
            data, p->name, var(p, "RUN"), p->operand.word[0]);
}

void
pipeline_prepare(struct pipeline *p, const char *data, const char *test)
{
    p->learnt = LEARNT_NOT;
    check_run(p, test);
    check_place(p, data);
    hold_run(p);
    if (*data)
        pipeline_index(p, data);
    if (*test)
        pipeline_index(p, test);
    if (*data && (*test || *var(p, "captions")))
        check_fit(p, data, test);
    stages_ask(p, data);
    p->stages = *data ? stages_text(p, data) : NULL;
    if (p->stages)
        check_stages(p);
    if (p->lists) {
        if (!*data)
            pipeline_misuse(
                p, "--stages is for a pipeline that is given its data");
        fputs(p->stages, stdout);
        close_stdout();
        exit(EXIT_OK);
    }
    hold_make(var(p, "RUN"));
    if (chmod(var(p, "RUN"), 0700))
        die("cannot change '%s': %s", var(p, "RUN"), strerror(errno));
    hold_run(p);
    if (!p->is_study)
        remember_run(p);
    hold_make(run_path(p, "log"));
    p->prepared = keep("%s %s in %s", data, test, var(p, "RUN"));
}

/* --------------------------------------------------------------- training */

static intmax_t
whole_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *
plural_of(const char *number)
{
    return strcmp(number, "1") ? "s" : "";
}

/* Says what the run trains, and from which step on. */
static void
announce_run(const struct pipeline *p, const char *data)
{
    const intmax_t least = whole_of(p->selects, "least");
    const intmax_t most = whole_of(p->selects, "largest");
    const intmax_t total = whole_of(p->trains, "total");

    say("%s%s, %jd images of '%s' in batches of %s%jd%s, %s epoch%s, seed %s, "
        "%s thread%s",
        total ? keep("continues after step %jd, in epoch %jd: ", total,
                     whole_of(p->trains, "epoch") + 1)
              : "",
        var(p, "objective"), whole_of(p->selects, "samples"), data,
        least == most ? "" : keep("%jd or ", least), most,
        most == whole_var(p, "batch")
            ? ""
            : keep(" (at most %s, evened out)", var(p, "batch")),
        var(p, "epochs"), plural_of(var(p, "epochs")), var(p, "seed"),
        var(p, "threads"), plural_of(var(p, "threads")));
}

void
pipeline_learn(struct pipeline *p, const char *data, const char *test)
{
    const char *as = keep("%s %s in %s", data, test, var(p, "RUN"));
    int judges;

    if (!p->prepared || strcmp(as, p->prepared))
        pipeline_prepare(p, data, test);
    p->prepared = NULL;
    if (p->learnt == LEARNT_NOT) {
        if (!p->is_study)
            announce_run(p, data);
        step_list(p, stages_text(p, data)); // options may have been set since
        p->learnt = LEARNT_NOW;
    }
    judges =
        *test && (p->learnt == LEARNT_NOW || p->judge_anew || !was_judged(p));
    set_var(p, "judge", judges ? "yes" : "");
}
