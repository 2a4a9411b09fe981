#include <stddef.h>

#include "bounds.h"

const struct wire_gate *wire_gate;

void
wire_gate_set(const struct wire_gate *gate)
{
    wire_gate = gate;
}
