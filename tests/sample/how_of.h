#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sampler.h"

/* Sets a parameter to a number or a word, "NAME=VALUE"; one that the sampler
 * does not have is left out. */
static inline void
how_set(struct sample_settings *how, char *word)
{
    char *value = strchr(word, '=');
    const struct param *own;

    REQUIRE(value);
    *value++ = '\0';
    own = param_find(how->sampler->params, word);
    if (own)
        sample_settings_set(how, word,
                            own->kind == OPT_CHOICE ? opt_index(own->arg, value)
                                                    : strtod(value, NULL));
}

/* A sampler and its parameters: "emc2 bank moves=5 horizon=3". */
static inline struct sample_settings
how_of(const char *words)
{
    struct sample_settings how;
    const struct sample_sampler *sampler;
    struct err err = {""};
    char text[256], *rest = text, *word, *method;

    snprintf(text, sizeof text, "%s", words);
    method = strtok_r(rest, " ", &rest);
    word = strtok_r(NULL, " ", &rest);
    sampler = sample_sampler_find(
        method, word && !strchr(word, '=') ? word : NULL, &err);
    REQUIRE(sampler);
    sample_settings_init(&how, sampler);
    for (; word; word = strtok_r(NULL, " ", &rest))
        if (strchr(word, '='))
            how_set(&how, word);
    return how;
}
