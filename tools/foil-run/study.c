#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "hold.h"
#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

/* --------------------------------------------------------------- methods */

void
study_declare(struct pipeline *p, char **word, size_t n)
{
    p->is_study = 1;
    pipeline_row_add(p, "methods", "LIST", "which methods, by commas");
    pipeline_row_add(p, "seeds", "N",
                     "how many seeds, from that of --seed on; a verdict takes "
                     "five");
    if (n)
        pipeline_row_add(p, "primary", "LIST",
                         "measures that are judged, by commas");
    set_var(p, "methods", "");
    set_var(p, "seeds", "5");
    set_var(p, "primary", n ? word[0] : "");
    set_var(p, "part-count", "1");
}

/* NAME OBJECTIVE [STAGE=OPTIONS]... : it is one of all, in its place. */
void
study_method(struct pipeline *p, char **word, size_t n)
{
    const char *all = var(p, "methods");
    char *longer = mem_format("%s%s%s", all, *all ? "," : "", word[0]);

    (void)n;
    set_var(p, "methods", longer);
    free(longer);
}

/* Keeps what it says, in which variables have their values now. */
void
study_set_method(struct pipeline *p, char **word, size_t n)
{
    char *key = mem_format("%s.objective", word[0]);

    setting_set(&p->methods, key, word[1]);
    free(key);
    for (size_t i = 2; i < n; i++) {
        const size_t length = strcspn(word[i], "=");

        key = mem_format("%s.%.*s", word[0], (int)length, word[i]);
        setting_set(&p->methods, key,
                    word[i] + length + (word[i][length] != 0));
        free(key);
    }
}

const char *
study_said(const struct pipeline *p, const char *method, const char *what)
{
    char *key = mem_format("%s.%s", method, what);
    const char *said = setting_get(&p->methods, key);

    free(key);
    return said;
}

/* ------------------------------------------------------------ its folder */

void
study_lock(struct pipeline *p)
{
    char *path = mem_format("%s/lock", var(p, "study"));

    study_unlock(p); // a second lock would wait for the first
    p->lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (p->lock < 0)
        die("cannot open '%s': %s", path, strerror(errno));
    while (flock(p->lock, LOCK_EX))
        if (errno != EINTR)
            die("cannot lock '%s': %s", path, strerror(errno));
    free(path);
}

void
study_unlock(struct pipeline *p)
{
    if (p->lock > 0)
        close(p->lock);
    p->lock = 0;
}

/* Returns what the results of a study depend on, a line each, to be given to
 * free(). */
static char *
put_settings(const struct pipeline *p, char **word, size_t n)
{
    static const int order[] = {EMBED, SELECT, TRAIN, NEGATIVES, AUGMENT};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s\n", word[i]);
    fprintf(out, "%s\n", var(p, "primary"));
    for (size_t i = 0; i < p->operand.n; i++)
        fprintf(out, "%s%s", i && *var(p, p->operand.word[i]) ? " " : "",
                var(p, p->operand.word[i]));
    fputc('\n', out);
    for (size_t i = 0; i < N_STAGES; i++) {
        const char *given = var(p, pipeline_stages[order[i]]);

        fprintf(out, "%s%s\n", *given ? " " : "", given);
    }
    REQUIRE(!fclose(out));
    return text;
}

/* SETTING... : make the folder, or go on in one whose settings are the same.
 * From here to the first trial no other call works in it. */
void
study_open(struct pipeline *p, char **word, size_t n)
{
    char *path = mem_format("%s/settings", var(p, "RUN"));
    char *now = put_settings(p, word, n), *was = NULL;
    char *methods = mem_text(var(p, "methods")), *rest;
    struct err err;
    size_t len;

    for (char *name = strtok_r(methods, ",", &rest); name;
         name = strtok_r(NULL, ",", &rest))
        if (!study_said(p, name, "objective"))
            pipeline_misuse(p, "no method '%s'", name);
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
    free(path);
    path = mem_format("%s/table.txt", var(p, "RUN"));
    if (file_exists(path) && unlink(path))
        die("cannot remove '%s': %s", path, strerror(errno));
    free(methods);
    free(was);
    free(now);
    free(path);
}

/* ---------------------------------------------------------------- trials */

static void
copy_words(struct word_list *to, const struct word_list *from)
{
    for (size_t i = 0; i < from->n; i++)
        word_list_add(to, from->word[i]);
}

/* Of a stage's options those stay that the method does not say, and it says
 * its own. */
static void
blend_options(struct pipeline *p, int stage, const char *method)
{
    struct word_list *own = &p->defaults[stage], blended = {0}, said = {0};
    const char *text = study_said(p, method, pipeline_stages[stage]);

    pipeline_split(p, &said, pipeline_stages[stage], text ? text : "");
    for (size_t i = 0, end; i < own->n; i = end) {
        int replaced = 0;

        end = item_end(own, i);
        for (size_t j = 0; j < said.n; j++)
            replaced |= !strcmp(said.word[j], own->word[i]);
        for (; i < end && !replaced; i++)
            word_list_add(&blended, own->word[i]);
    }
    copy_words(&blended, &said);
    word_list_release(&said);
    word_list_release(own);
    *own = blended;
}

void
study_begin(struct pipeline *p, struct study_before *before, const char *method,
            const char *folder)
{
    char *latest = mem_format("%s/latest", folder);

    *before = (struct study_before){0};
    for (size_t i = 0; i < p->vars.n; i++)
        setting_set(&before->vars, p->vars.item[i].name, p->vars.item[i].value);
    for (int i = 0; i < N_STAGES; i++) {
        copy_words(&before->defaults[i], &p->defaults[i]);
        blend_options(p, i, method);
    }
    if (!study_said(p, method, "objective"))
        pipeline_misuse(p, "no method '%s'", method);
    set_var(p, "RUN", folder);
    set_var(p, "method", method);
    set_var(p, "objective", study_said(p, method, "objective"));
    p->resume = file_exists(latest);
    free(latest);
}

void
study_end(struct pipeline *p, struct study_before *before)
{
    for (int i = 0; i < N_STAGES; i++) {
        word_list_release(&p->defaults[i]);
        p->defaults[i] = before->defaults[i];
    }
    setting_release(&p->vars);
    p->vars = before->vars;
    set_var(p, "RUN", var(p, "RUN")); // in the environment, too
    p->resume = 0;
    p->learnt = LEARNT_NOT; // the study says where everything is
}
