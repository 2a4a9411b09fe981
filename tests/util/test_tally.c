#include <string.h>

#include "t.h"
#include "util/err.h"

int
main(void)
{
    struct tally tally = {0};
    unsigned long logged = 0;

    for (int i = 1; i <= 20; i++) {
        struct err why = {"no"};

        if (!tally_add(&tally, &why))
            continue;
        logged |= 1ul << i;
        if (i == 8)
            T(!strcmp(why.msg, "no (8 so far)"), "with the count: %s", why.msg);
        if (i == 1)
            T(!strcmp(why.msg, "no"), "the first without");
    }
    T(logged == (1ul << 1 | 1ul << 2 | 1ul << 4 | 1ul << 8 | 1ul << 16),
      "logged the 1st, 2nd, 4th, 8th, 16th time");
    return t_done();
}
