#include <string.h>

#include "t.h"
#include "util/terminal.h"

static int
becomes(const char *from, const char *to)
{
    char text[64];

    snprintf(text, sizeof text, "%s", from);
    defuse(text);
    return !strcmp(text, to);
}

int
main(void)
{
    T(becomes("", "") && becomes("loss 4.5 ~", "loss 4.5 ~"),
      "plain text is unchanged");
    T(becomes("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z",
              "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"),
      "characters of two, three and four bytes are unchanged");
    T(becomes("\x1b[2Ja\rb\nc\x7f", "?[2Ja?b?c?"), "control bytes become ?");
    T(becomes("a\tb", "a b"), "a tab is a blank");
    T(becomes("\xc2\x9b"
              "31m",
              "??31m"),
      "control characters of C1 become ?");
    T(becomes("\xff\x80"
              "a\xc0\xaf\xed\xa0\x80\xf5\x80\x80\x80",
              "??a?????????"),
      "invalid UTF-8 becomes ?");
    T(becomes("a\xe2\x80\xae"
              "b\xe2\x81\xa6"
              "c",
              "a???b???c") &&
          becomes("\xe2\x80\x8f\xe2\x80\xaf", "\xe2\x80\x8f\xe2\x80\xaf"),
      "characters that change the direction become ?, their neighbours do not");
    T(becomes("a\xe2\x82", "a??"), "a character that is cut off becomes ?");
    return t_done();
}
