#include "greeting.h"

/* Seconds until a hello that is not answered is sent again. */
static const double hello_retry_s = 1;

int
flow_greeting_turn(struct flow_greeting *greeting, int connected, double now)
{
    if (!connected || greeting->state == FLOW_IN ||
        (greeting->state == FLOW_GREETING &&
         now - greeting->sent < hello_retry_s))
        return 0;
    greeting->state = FLOW_GREETING;
    greeting->sent = now;
    return 1;
}

double
flow_greeting_due(const struct flow_greeting *greeting, int connected)
{
    if (!connected || greeting->state == FLOW_IN)
        return 1e18;
    return greeting->state == FLOW_OUT ? 0 : greeting->sent + hello_retry_s;
}

int
flow_greeting_hello(struct flow_greeting *greeting)
{
    if (greeting->state != FLOW_GREETING)
        return 0;
    greeting->state = FLOW_IN;
    return 1;
}

void
flow_greeting_again(struct flow_greeting *greeting)
{
    if (greeting->state == FLOW_IN)
        greeting->state = FLOW_OUT;
}

void
flow_greeting_lost(struct flow_greeting *greeting)
{
    greeting->state = FLOW_OUT;
}
