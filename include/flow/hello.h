#ifndef FLOW_HELLO_H
#define FLOW_HELLO_H

#include "wire/hello.h"

/* flow_hello_name() fills in an empty hello->peer with stage, process id and
 * time: "augment-4711-...". */
void flow_hello_name(struct wire_hello *hello);

/*
 * flow_hello_fits() returns 0 when the two can work together, else -1 with a
 * sentence that names both sides: version, run, data set or recipe differ.
 */
int flow_hello_fits(const struct wire_hello *mine,
                    const struct wire_hello *theirs, struct err *err);

#endif
