#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/err.h"
#include "wire/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A file that is read to its end, or refused with a sentence. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static FILE *file;
    struct wire_record record;
    struct wire_msg *msg;
    struct err err = {""};
    int rc;

    if (!file)
        file = tmpfile();
    rewind(file);
    if (ftruncate(fileno(file), 0) || fwrite(data, 1, len, file) != len)
        abort();
    rewind(file);
    while ((rc = wire_record_next(file, &record, &msg, &err)) > 0)
        wire_msg_free(msg);
    REQUIRE(rc == 0 || *err.msg);
    return 0;
}
