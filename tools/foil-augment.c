/*
 * foil-augment turns the ids of plan items into decoded, augmented views.
 */
#include <stdio.h>

#include "foil-augment/maker.h"
#include "util/opt.h"
#include "util/stop.h"

/* Prints how views are made, for --dry-run. */
static void
print_making(void)
{
    char making[8192];

    augment_making(making, sizeof making);
    puts(making);
    close_stdout();
}

static void
draw_sheet(struct augment_maker *maker, const struct augment_options *options)
{
    end_when_stopped();
    augment_maker_open(maker, options);
    augment_maker_sheet(maker);
}

int
main(int argc, char **argv)
{
    const struct augment_options *options = augment_options_get(argc, argv);
    struct augment_maker maker = {0};
    struct stage stage = {0};

    if (options->sheet && !options->dry) {
        draw_sheet(&maker, options);
    } else {
        augment_maker_open(&maker, options);
        stage_open(&stage, &options->stage);
        if (options->dry)
            print_making();
        else
            augment_serve(&maker, &stage);
        stage_close(&stage);
    }
    augment_maker_close(&maker);
    return EXIT_OK;
}
