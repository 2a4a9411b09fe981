#include <msgpack.h>
#include <stdlib.h>

#include "util/err.h"
#include "wire/msg.h"
#include "wire/pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* What the guard lets through, msgpack-c reads, to the last byte. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    msgpack_unpacked unpacked;
    struct err err = {""};
    size_t used = 0;

    if (wire_guard(data, len, &err)) {
        REQUIRE(*err.msg);
        return 0;
    }
    msgpack_unpacked_init(&unpacked);
    REQUIRE(msgpack_unpack_next(&unpacked, (const char *)data, len, &used) ==
            MSGPACK_UNPACK_SUCCESS);
    REQUIRE(used == len && unpacked.data.type == MSGPACK_OBJECT_MAP);
    msgpack_unpacked_destroy(&unpacked);
    return 0;
}
