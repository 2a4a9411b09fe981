#include <stdio.h>
#include <stdlib.h>

#include "train.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"

enum { DIGITS = 32 };

/* The last session of the run; 0 if unknown. */
static int64_t
read_session(const char *path)
{
    struct err ignored;
    size_t len;
    char *text = file_read(path, DIGITS, &len, &ignored);
    const long long session = text ? strtoll(text, NULL, 10) : 0;

    free(text);
    return session > 0 ? session : 0;
}

int
train_session(struct train *t, struct err *err)
{
    const int64_t clock = (int64_t)clock_wall();
    char *path = mem_format("%s/session", t->options->stage.run);
    const int64_t before = read_session(path);
    char text[DIGITS];
    int n, rc;

    t->session = wire_session_begin(before, clock);
    if (before > t->session)
        log_message(
            "the clock of this machine is days behind the last session of "
            "'%s': set the clock, here or where stages refuse the session",
            t->options->stage.run);
    n = snprintf(text, sizeof text, "%jd\n", (intmax_t)t->session);
    rc = file_write(path, text, (size_t)n, err);
    free(path);
    return rc;
}
