#include <stdio.h>
#include <string.h>

#include "util/tally.h"

int
tally_add(struct tally *tally, struct err *why)
{
    size_t n = strlen(why->msg);

    tally->n++;
    if (tally->n & (tally->n - 1))
        return 0;
    if (tally->n > 1)
        snprintf(why->msg + n, sizeof why->msg - n, " (%ju so far)",
                 (uintmax_t)tally->n);
    return 1;
}
