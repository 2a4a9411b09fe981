#include <stdlib.h>
#include <string.h>

#include "sample/sampler.h"
#include "util/mem.h"

void
sample_how_init(struct sample_how *how, const struct sample_sampler *sampler)
{
    *how = (struct sample_how){.sampler = sampler};
    param_defaults(sampler->params, how->value);
}

double
sample_how_value(const struct sample_how *how, const char *name)
{
    const struct param *params = how->sampler->params;
    const struct param *own = param_find(params, name);

    return own ? how->value[own - params] : 0;
}

void
sample_how_set(struct sample_how *how, const char *name, double value)
{
    double *at = param_at(how->sampler->params, how->value, name);

    if (at)
        *at = value;
}

/* Sets a parameter to what stands behind its name. */
static int
read_value(struct sample_how *how, const char *name, const char *text,
           struct err *err)
{
    const struct param *own = param_find(how->sampler->params, name);
    char *end;
    double value;

    if (!own)
        return err_set(err, "%s %s has no parameter '%.40s'",
                       how->sampler->method, how->sampler->proposals, name);
    value = own->kind == OPT_CHOICE ? opt_index(own->arg, text)
                                    : strtod(text, &end);
    if (own->kind == OPT_CHOICE ? value < 0 : end == text || *end)
        return err_set(err, "%s '%.40s': want %s", name, text,
                       own->kind == OPT_CHOICE ? own->arg : "a number");
    if (own->kind == OPT_WHOLE && value != (double)(long)value)
        return err_set(err, "%s %s: want a whole number", name, text);
    sample_how_set(how, name, value);
    return 0;
}

int
sample_how_read(struct sample_how *how, const char *list, struct err *err)
{
    char *text = mem_text(list), *rest = text;
    int rc = 0;

    for (char *word; !rc && (word = strtok_r(rest, ",", &rest));) {
        char *value = strchr(word, '=');

        if (value)
            *value++ = '\0';
        rc = read_value(how, word, value ? value : "", err);
    }
    free(text);
    return rc ? rc : param_check(how->sampler->params, how->value, err);
}
