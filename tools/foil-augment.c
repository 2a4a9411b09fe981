/*
 * foil-augment turns the ids of plan items into decoded, augmented views.
 */
#include <stdio.h>

#include "foil-augment/serve.h"
#include "util/opt.h"
#include "util/stop.h"

/* What a dry run prints. */
static void
print_making(void)
{
    char making[8192];

    augment_making(making, sizeof making);
    puts(making);
    close_stdout();
}

int
main(int argc, char **argv)
{
    const struct augment_options *options = augment_options_get(argc, argv);
    struct augment_maker maker = {0};
    struct wire_keys keys = {0};
    struct err err;

    if (options->sheet)
        end_when_stopped();
    if (options->keys &&
        wire_keys_open(&keys, options->keys, options->allow, &err))
        die("%s", err.msg);
    augment_maker_open(&maker, options);
    if (options->dry)
        print_making();
    else if (options->sheet)
        augment_maker_sheet(&maker);
    else
        augment_serve(&maker, options->keys ? &keys : NULL);
    wire_keys_release(&keys);
    augment_maker_close(&maker);
    return EXIT_OK;
}
