#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "hold.h"
#include "pipeline.h"
#include "util/file.h"
#include "util/opt.h"

/* --------------------------------------------------------------- methods */

void
study_declare(struct pipeline *p, const struct word_list *word)
{
    p->is_study = 1;
    pipeline_row_add(p, "methods", "LIST", "which methods, by commas");
    pipeline_row_add(p, "seeds", "N",
                     "how many seeds, from that of --seed on; a verdict takes "
                     "five");
    if (word->n)
        pipeline_row_add(p, "primary", "LIST",
                         "measures that are judged, by commas");
    set_var(p, "seeds", "5");
    set_var(p, "primary", word->n ? word->word[0] : "");
    set_var(p, "part-count", "1");
}

/* NAME OBJECTIVE [STAGE=OPTIONS]... : it is one of all, in its place. */
void
study_method(struct pipeline *p, const struct word_list *word)
{
    const char *all = var(p, "methods");

    set_var(p, "methods", keep("%s%s%s", all, *all ? "," : "", word->word[0]));
}

/* Keeps what it says, in which variables have their values now. */
void
study_set_method(struct pipeline *p, const struct word_list *word)
{
    const char *name = word->word[0];

    setting_set(&p->methods, keep("%s.objective", name), word->word[1]);
    for (size_t i = 2; i < word->n; i++) {
        const char *said = word->word[i];
        const size_t n = strcspn(said, "=");

        setting_set(&p->methods, keep("%s.%.*s", name, (int)n, said),
                    said + n + (said[n] != 0));
    }
}

const char *
study_said(const struct pipeline *p, const char *method, const char *what)
{
    return setting_get(&p->methods, keep("%s.%s", method, what));
}

/* Returns the objective of a method, which has to be there. */
static const char *
need_method(const struct pipeline *p, const char *method)
{
    const char *objective = study_said(p, method, "objective");

    if (!objective)
        pipeline_misuse(p, "no method '%s'", method);
    return objective;
}

/* ------------------------------------------------------------ its folder */

void
study_lock(struct pipeline *p)
{
    const char *path = keep("%s/lock", var(p, "study"));

    study_unlock(p); // a second lock would wait for the first
    p->lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (p->lock < 0)
        die("cannot open '%s': %s", path, strerror(errno));
    while (flock(p->lock, LOCK_EX))
        if (errno != EINTR)
            die("cannot lock '%s': %s", path, strerror(errno));
}

void
study_unlock(struct pipeline *p)
{
    if (p->lock > 0)
        close(p->lock);
    p->lock = 0;
}

/* Returns what the results of a study depend on, a line each. */
static const char *
put_settings(const struct pipeline *p, const struct word_list *word)
{
    const char *text = "";

    for (size_t i = 0; i < word->n; i++)
        text = keep("%s%s\n", text, word->word[i]);
    text = keep("%s%s\n", text, var(p, "primary"));
    for (size_t i = 0; i < p->operand.n; i++) {
        const char *value = var(p, p->operand.word[i]);

        text = keep("%s%s%s", text, i && *value ? " " : "", value);
    }
    text = keep("%s\n", text);
    for (int i = 0; i < N_STAGES; i++) {
        const char *given = var(p, pipeline_stages[i]);

        text = keep("%s%s%s\n", text, *given ? " " : "", given);
    }
    return text;
}

/* SETTING... : make the folder, or go on in one whose settings are the same.
 * From here to the first trial no other call works in it. */
void
study_open(struct pipeline *p, const struct word_list *word)
{
    const char *path = run_path(p, "settings"), *now = put_settings(p, word);
    const char *table = run_path(p, "table.txt");
    char *methods = keep("%s", var(p, "methods")), *was = NULL, *rest;
    struct err err;
    size_t len;

    for (char *name = strtok_r(methods, ",", &rest); name;
         name = strtok_r(NULL, ",", &rest))
        need_method(p, name);
    set_var(p, "study", var(p, "RUN"));
    hold_make(var(p, "RUN"));
    study_lock(p);
    if (file_exists(path) && !(was = file_read(path, 1 << 20, &len, &err)))
        die("%s", err.msg);
    if (was && strcmp(was, now))
        die("'%s' holds a study with other settings: -r takes another",
            var(p, "RUN"));
    if (!was && file_write(path, now, strlen(now), &err))
        die("%s", err.msg);
    free(was);
    if (file_exists(table) && unlink(table))
        die("cannot remove '%s': %s", table, strerror(errno));
}

/* ---------------------------------------------------------------- trials */

/* Of a stage's options those stay that the method does not say, and it says
 * its own. */
static struct word_list
blend_options(const struct pipeline *p, int stage, const char *method)
{
    const char *name = pipeline_stages[stage],
               *text = study_said(p, method, name);
    struct word_list blended = {0}, said = {0};

    pipeline_split(p, &said, name, text ? text : "");
    word_list_merge(&blended, &p->defaults[stage], &said);
    return blended;
}

void
study_begin(struct pipeline *p, struct study_before *before, const char *method,
            const char *folder)
{
    *before = (struct study_before){0};
    for (size_t i = 0; i < p->vars.n; i++)
        setting_set(&before->vars, p->vars.item[i].name, p->vars.item[i].value);
    for (int i = 0; i < N_STAGES; i++) {
        before->defaults[i] = p->defaults[i];
        p->defaults[i] = blend_options(p, i, method);
    }
    set_var(p, "RUN", folder);
    set_var(p, "method", method);
    set_var(p, "objective", need_method(p, method));
    p->resume = run_has(p, "latest");
}

void
study_end(struct pipeline *p, struct study_before *before)
{
    memcpy(p->defaults, before->defaults, sizeof p->defaults);
    setting_release(&p->vars);
    p->vars = before->vars;
    set_var(p, "RUN", var(p, "RUN")); // in the environment, too
    p->resume = 0;
    p->learnt = LEARNT_NOT; // the study says where everything is
}
