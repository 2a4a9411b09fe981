#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "wire/hello.h"

struct wire_msg *
wire_hello_put(const struct wire_hello *hello)
{
    struct wire_hello ours = *hello;

    ours.version = WIRE_VERSION;
    return wire_encode(WIRE_HELLO, &ours);
}

int
wire_hello_get(struct wire_hello *hello, const struct wire_msg *msg,
               struct err *err)
{
    return wire_decode(WIRE_HELLO, hello, msg, 0, err);
}

void
wire_hello_name(struct wire_hello *hello)
{
    if (!*hello->peer)
        snprintf(hello->peer, sizeof hello->peer, "%s-%jd-%jx", hello->stage,
                 (intmax_t)getpid(), (uintmax_t)clock_wall());
}

int
wire_hello_fits(const struct wire_hello *mine, const struct wire_hello *theirs,
                struct err *err)
{
    if (theirs->version != WIRE_VERSION && theirs->version != WIRE_VERSION_OLD)
        return err_set(err, "%s speaks version %jd, %s speaks %d",
                       theirs->stage, (intmax_t)theirs->version, mine->stage,
                       WIRE_VERSION);
    if (theirs->rank[1])
        return err_set(err,
                       "%s is part %jd of %jd: runs of several trainers are "
                       "not supported",
                       theirs->stage, (intmax_t)theirs->rank[0],
                       (intmax_t)theirs->rank[1]);
    if (*mine->run && *theirs->run && strcmp(mine->run, theirs->run))
        return err_set(err, "%s is in run '%s', %s in '%s'", theirs->stage,
                       theirs->run, mine->stage, mine->run);
    if (*mine->digest && *theirs->digest &&
        (strcmp(mine->digest, theirs->digest) || mine->size != theirs->size))
        return err_set(err, "%s has data set %s of %jd, %s has %s of %jd",
                       theirs->stage, theirs->digest, (intmax_t)theirs->size,
                       mine->stage, mine->digest, (intmax_t)mine->size);
    if (*mine->recipe && *theirs->recipe &&
        strcmp(mine->recipe, theirs->recipe))
        return err_set(err,
                       "%s makes other views than the peers before it: use the "
                       "same recipe, seed and views in all of a run",
                       theirs->stage);
    return 0;
}
