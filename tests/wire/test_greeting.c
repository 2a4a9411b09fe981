#include "t.h"
#include "wire/greeting.h"

/* The table of wire/greeting.h, row by row. */
static void
rows(void)
{
    struct wire_greeting g = {0};

    T(!wire_greeting_turn(&g, 0, 5) && g.state == WIRE_OUT,
      "no hello without a connection");
    T(!wire_greeting_hello(&g) && g.state == WIRE_OUT,
      "a hello that nobody waits for is dropped");
    wire_greeting_again(&g);
    T(g.state == WIRE_OUT, "so is an error with again");
    T(wire_greeting_turn(&g, 1, 5) && g.state == WIRE_GREETING,
      "[OUT: there is a connection] hello");
    T(!wire_greeting_turn(&g, 1, 5.9), "which is given a second");
    T(wire_greeting_turn(&g, 1, 6) && !wire_greeting_turn(&g, 1, 6.9) &&
          wire_greeting_turn(&g, 1, 7),
      "[GREETING: a second without an answer] hello, each second");
    wire_greeting_again(&g);
    T(g.state == WIRE_GREETING && !wire_greeting_turn(&g, 1, 7.5),
      "again, while a hello is under way, changes nothing");
    T(wire_greeting_hello(&g) && g.state == WIRE_IN,
      "[GREETING: hello that fits] in");
    T(!wire_greeting_hello(&g) && g.state == WIRE_IN,
      "a second answer changes nothing");
    T(!wire_greeting_turn(&g, 1, 100), "in, no hello is said");
    wire_greeting_again(&g);
    wire_greeting_again(&g);
    T(wire_greeting_turn(&g, 1, 100) && !wire_greeting_turn(&g, 1, 100.5),
      "[IN: error with again] one hello, also after two");
    T(wire_greeting_hello(&g), "and in again");
    wire_greeting_lost(&g);
    T(!wire_greeting_turn(&g, 0, 101) && g.state == WIRE_OUT,
      "[any: the connection is lost] out");
    T(wire_greeting_turn(&g, 1, 101), "there is another: hello");
    wire_greeting_lost(&g);
    T(!wire_greeting_hello(&g), "an answer on a lost connection is none");
}

/* However many hellos were sent, one answer counts. */
static void
slow_binder(void)
{
    struct wire_greeting g = {0};
    int sent = 0, in = 0;

    for (double now = 0; now < 8; now += 0.25)
        sent += wire_greeting_turn(&g, 1, now);
    for (int i = 0; i < sent; i++)
        in += wire_greeting_hello(&g);
    T(sent == 8 && in == 1, "eight hellos and eight answers: in once");
}

int
main(void)
{
    rows();
    slow_binder();
    return t_done();
}
