#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "samplers.h"

#define POINT_AT(row) &sample_sampler_##row,
const struct sample_sampler *const sample_samplers[] = {
    SAMPLE_SAMPLERS(POINT_AT) NULL};

const struct sample_sampler *
sample_sampler_find(const char *method, const char *proposals, struct err *err)
{
    char *list;

    for (size_t i = 0; sample_samplers[i]; i++)
        if (!strcmp(sample_samplers[i]->method, method) &&
            (!proposals || !strcmp(sample_samplers[i]->proposals, proposals)))
            return sample_samplers[i];
    list = mem_text("");
    for (size_t i = 0; sample_samplers[i]; i++)
        if (!strcmp(sample_samplers[i]->method, method))
            mem_append(&list, " %s", sample_samplers[i]->proposals);
    if (strspn(list, " ") < strlen(list))
        err_set(err, "%s has no --proposals %.40s: there are%s", method,
                proposals, list);
    else if (*list)
        err_set(err, "%s has no --proposals", method);
    else
        err_set(err, "no sampler '%.40s': there are %s", method,
                sample_sampler_methods());
    free(list);
    return NULL;
}

enum { WORDS = 256 };

/* Lists the methods, or the proposals, of all samplers: "a|b|c". */
static const char *
list_words(int proposals)
{
    static char lists[2][WORDS];
    char *list = lists[proposals];

    *list = '\0';
    for (size_t i = 0; sample_samplers[i]; i++) {
        const char *word = proposals ? sample_samplers[i]->proposals
                                     : sample_samplers[i]->method;
        const size_t n = strlen(list);

        if (*word && !(n && opt_index(list, word) >= 0))
            REQUIRE((size_t)snprintf(list + n, WORDS - n, "%s%s", n ? "|" : "",
                                     word) < WORDS - n);
    }
    return list;
}

const char *
sample_sampler_methods(void)
{
    return list_words(0);
}

const char *
sample_sampler_proposals(void)
{
    return list_words(1);
}
