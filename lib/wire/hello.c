#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/digest.h"
#include "wire/hello.h"
#include "wire/pack.h"

struct wire_msg *
wire_hello_put(const struct wire_hello *hello)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_HELLO);
    wire_write_text(&w, "stage", hello->stage);
    wire_write_whole(&w, "version", WIRE_VERSION);
    wire_write_text(&w, "run", hello->run);
    wire_write_map(&w, "dataset", 2);
    wire_write_text(&w, "digest", hello->digest);
    wire_write_whole(&w, "size", hello->size);
    if (*hello->peer)
        wire_write_text(&w, "peer", hello->peer);
    if (*hello->recipe)
        wire_write_text(&w, "recipe", hello->recipe);
    if (hello->greeting)
        wire_write_whole(&w, "greeting", hello->greeting);
    return wire_write_end(&w);
}

int
wire_hello_get(struct wire_hello *hello, const struct wire_msg *msg,
               struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err), set;
    struct wire_hello got = {0};
    struct digest digest;

    wire_read_text(&r, "stage", got.stage, sizeof got.stage);
    got.version = wire_read_whole(&r, "version", 0, INT32_MAX);
    wire_read_text(&r, "run", got.run, sizeof got.run);
    wire_read_text_if(&r, "peer", got.peer, sizeof got.peer);
    wire_read_text_if(&r, "recipe", got.recipe, sizeof got.recipe);
    if (wire_read_has(&r, "greeting"))
        got.greeting = wire_read_whole(&r, "greeting", 1, INT64_MAX);
    set = wire_read_map(&r, "dataset");
    wire_read_text(&set, "digest", got.digest, sizeof got.digest);
    got.size = wire_read_whole(&set, "size", 0, WIRE_SIZE_MAX);
    if (*got.digest && digest_from_hex(&digest, got.digest))
        wire_read_fail(&set, "'digest' is not 32 hexadecimal digits");
    if (!*got.digest != !got.size)
        wire_read_fail(&set, "a data set has a digest and images, or neither");
    if (r.rc || set.rc)
        return -1;
    *hello = got;
    return 0;
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
    if (theirs->version != WIRE_VERSION)
        return err_set(err, "%s speaks version %jd, %s speaks %d",
                       theirs->stage, (intmax_t)theirs->version, mine->stage,
                       WIRE_VERSION);
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
                       "%s makes other views than those that came before: give "
                       "all of a run the same recipe, seed, views",
                       theirs->stage);
    return 0;
}
