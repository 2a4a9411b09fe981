#include "greeting.h"

/* Seconds until a hello that is not answered is sent again. */
static const double patience = 1;

int
wire_greeting_turn(struct wire_greeting *greeting, int connected, double now)
{
    if (!connected || greeting->state == WIRE_IN ||
        (greeting->state == WIRE_GREETING && now - greeting->sent < patience))
        return 0;
    greeting->state = WIRE_GREETING;
    greeting->sent = now;
    return 1;
}

double
wire_greeting_due(const struct wire_greeting *greeting, int connected)
{
    if (!connected || greeting->state == WIRE_IN)
        return 1e18;
    return greeting->state == WIRE_OUT ? 0 : greeting->sent + patience;
}

int
wire_greeting_hello(struct wire_greeting *greeting)
{
    if (greeting->state != WIRE_GREETING)
        return 0;
    greeting->state = WIRE_IN;
    return 1;
}

void
wire_greeting_again(struct wire_greeting *greeting)
{
    if (greeting->state == WIRE_IN)
        greeting->state = WIRE_OUT;
}

void
wire_greeting_lost(struct wire_greeting *greeting)
{
    greeting->state = WIRE_OUT;
}
