#include <stdlib.h>

#include "sample/sampler.h"
#include "util/mem.h"

void
sample_settings_init(struct sample_settings *how,
                     const struct sample_sampler *sampler)
{
    *how = (struct sample_settings){.sampler = sampler};
    param_defaults(sampler->params, how->value);
}

double
sample_settings_value(const struct sample_settings *how, const char *name)
{
    const struct param *params = how->sampler->params;
    const struct param *own = param_find(params, name);

    return own ? how->value[own - params] : 0;
}

void
sample_settings_set(struct sample_settings *how, const char *name, double value)
{
    double *at = param_at(how->sampler->params, how->value, name);

    if (at)
        *at = value;
}

int
sample_settings_read(struct sample_settings *how, const char *list,
                     struct err *err)
{
    const struct sample_sampler *sampler = how->sampler;
    char *name = mem_format("%s %s", sampler->method, sampler->proposals);
    const int rc =
        param_read_words(sampler->params, name, list, how->value, err);

    free(name);
    return rc;
}
