#include <stdio.h>
#include <string.h>

#include "wire/keeper.h"

/* So often in a row a service wants the state, and is given up.  One that works
 * wants it again for each answer that was lost. */
enum { TRIES = 8 };

int
wire_keeper_meets(struct wire_keeper *keeper, const char *name)
{
    keeper->ready &= !strcmp(keeper->met, name);
    snprintf(keeper->met, sizeof keeper->met, "%s", name);
    return !keeper->ready;
}

void
wire_keeper_behind(struct wire_keeper *keeper)
{
    keeper->ready = 0;
}

int
wire_keeper_next(struct wire_keeper *keeper, enum wire_answer what,
                 const char *name)
{
    const int was = keeper->ready;

    if (what == WIRE_ANSWERED)
        snprintf(keeper->met, sizeof keeper->met, "%s", name);
    keeper->ready = what == WIRE_ANSWERED || (was && what != WIRE_NO_STATE);
    if (what == WIRE_NO_STATE)
        return ++keeper->tries < TRIES;
    if (was)
        keeper->tries = 0;
    return what == WIRE_ANSWERED && !was;
}
