#include <stdlib.h>
#include <string.h>

#include "foil-view/json_number.h"
#include "t.h"

/* RFC 4648, section 10, and all values of a byte. */
int
main(void)
{
    static const char *const want[] = {
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    const uint8_t ends[] = {0, 16, 131, 16, 81, 135, 251, 255, 191};

    for (size_t n = 0; n < sizeof want / sizeof *want; n++) {
        char *got = base64_encode((const uint8_t *)"foobar", n);

        T(!strcmp(got, want[n]), "%zu bytes: '%s'", n, got);
        free(got);
    }
    char *got = base64_encode(ends, sizeof ends);

    T(!strcmp(got, "ABCDEFGH+/+/"), "first and last digits: '%s'", got);
    free(got);
    return t_done();
}
