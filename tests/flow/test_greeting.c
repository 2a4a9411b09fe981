#include "flow/greeting.h"
#include "t.h"

/* The table of flow/greeting.h, row by row. */
static void
rows(void)
{
    struct flow_greeting g = {0};

    T(!flow_greeting_turn(&g, 0, 5) && g.state == FLOW_OUT,
      "no hello without a connection");
    T(!flow_greeting_hello(&g) && g.state == FLOW_OUT,
      "an unexpected hello is dropped");
    flow_greeting_again(&g);
    T(g.state == FLOW_OUT, "an unexpected error with rehello is dropped");
    T(flow_greeting_turn(&g, 1, 5) && g.state == FLOW_GREETING,
      "[OUT: there is a connection] hello");
    T(!flow_greeting_turn(&g, 1, 5.9), "no hello is repeated within a second");
    T(flow_greeting_turn(&g, 1, 6) && !flow_greeting_turn(&g, 1, 6.9) &&
          flow_greeting_turn(&g, 1, 7),
      "[GREETING: a second without an answer] hello, each second");
    flow_greeting_again(&g);
    T(g.state == FLOW_GREETING && !flow_greeting_turn(&g, 1, 7.5),
      "an error with rehello changes nothing while a hello is in transit");
    T(flow_greeting_hello(&g) && g.state == FLOW_IN,
      "[GREETING: hello that fits] in");
    T(!flow_greeting_hello(&g) && g.state == FLOW_IN,
      "a second answer changes nothing");
    T(!flow_greeting_turn(&g, 1, 100), "in, no hello is sent");
    flow_greeting_again(&g);
    flow_greeting_again(&g);
    T(flow_greeting_turn(&g, 1, 100) && !flow_greeting_turn(&g, 1, 100.5),
      "[IN: error with rehello] one hello, also after two");
    T(flow_greeting_hello(&g), "an answer to the repeated hello: in again");
    flow_greeting_lost(&g);
    T(!flow_greeting_turn(&g, 0, 101) && g.state == FLOW_OUT,
      "[any: the connection is lost] out");
    T(flow_greeting_turn(&g, 1, 101), "there is another: hello");
    flow_greeting_lost(&g);
    T(!flow_greeting_hello(&g),
      "an answer on a lost connection does not count");
}

/* However many hellos were sent, one answer counts. */
static void
slow_binder(void)
{
    struct flow_greeting g = {0};
    int sent = 0, in = 0;

    for (double now = 0; now < 8; now += 0.25)
        sent += flow_greeting_turn(&g, 1, now);
    for (int i = 0; i < sent; i++)
        in += flow_greeting_hello(&g);
    T(sent == 8 && in == 1, "eight hellos and eight answers: in once");
}

int
main(void)
{
    rows();
    slow_binder();
    return t_done();
}
