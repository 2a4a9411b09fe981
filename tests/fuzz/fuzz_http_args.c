/* What strangers ask of foil-view: names of views are read in range or refused,
 * and no host or token is taken for ours but ours. */
#include "../../tools/foil-view/http_args.h"
#include "util/err.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check_names(const char *text)
{
    const int64_t most = 999999999999999;
    struct picture_name name[PICTURE_LIST] = {{0}};
    const size_t n = http_args_names(text, name);
    size_t commas = 0;

    REQUIRE(n <= PICTURE_LIST);
    for (size_t i = 0; text[i]; i++)
        commas += text[i] == ',';
    REQUIRE(!n || commas == n - 1);
    for (size_t i = 0; i < n; i++)
        REQUIRE(name[i].id >= 0 && name[i].id <= most && name[i].epoch >= 0 &&
                name[i].epoch <= most && name[i].view >= -1 &&
                name[i].view <= most);
}

static void
check_number(const char *text)
{
    const char *end;
    const int64_t x = http_args_digits(text, &end);

    REQUIRE(end >= text && end <= text + strlen(text));
    REQUIRE(x >= -1 && x <= 999999999999999);
    REQUIRE(x < 0 || strtoll(text, NULL, 10) == x);
}

static void
check_host(const char *text)
{
    static const char one[] = "localhost";
    static const char *const ours[] = {one, NULL, "a"};
    static const char characters[] = "0123456789.:[]abcdefABCDEF"
                                     "localhstLOCALHST";

    REQUIRE(!http_args_host(text, ours, 3) || !text[strspn(text, characters)]);
    REQUIRE(http_args_token(one, text, strlen(text)) == !strcmp(one, text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = mem_array(len + 1, 1);

    if (len)
        memcpy(text, data, len);
    check_names(text);
    check_number(text);
    check_host(text);
    free(text);
    return 0;
}
