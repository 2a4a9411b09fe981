#include <string.h>

#include "foil-select/select.h"
#include "t.h"

int
main(void)
{
    static const int64_t ids[] = {7, 3, 9, 3, 0, 7, 8};
    static const int64_t sorted[] = {0, 3, 7, 8, 9};
    struct select_quarantine quarantine = {0};
    char reason[] = "torn at x";
    int in_order = 1;

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        reason[8] = (char)('0' + i);
        select_quarantine_add(&quarantine, ids[i], reason);
    }
    T(quarantine.n == 5, "each sample once");
    for (size_t i = 0; i < 5; i++)
        in_order &= quarantine.item[i].id == sorted[i];
    T(in_order, "ascending");
    T(!strcmp(quarantine.item[1].reason, "torn at 1"),
      "with the first reason: %s", quarantine.item[1].reason);
    select_quarantine_release(&quarantine);
    select_quarantine_release(&quarantine);
    return t_done();
}
