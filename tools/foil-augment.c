/* foil-augment turns the ids of plan items into decoded, augmented views. */
#include <stdio.h>

#include "foil-augment/augment.h"
#include "util/opt.h"

int
main(int argc, char **argv)
{
    const struct augment_options *options = augment_options_get(argc, argv);
    struct augment_maker maker = {0};
    struct stage stage = {0};
    char view_options[8192];

    if (options->sheet && !options->dry) {
        end_when_stopped();
        augment_maker_open(&maker, options);
        augment_maker_sheet(&maker);
    } else {
        stage_open(&stage, &options->stage); // before fetching threads start
        augment_maker_open(&maker, options);
        if (options->dry) {
            augment_view_options(view_options, sizeof view_options);
            puts(view_options);
            close_stdout();
        } else {
            augment_serve(&maker, &stage);
        }
        stage_close(&stage);
    }
    augment_maker_close(&maker);
    return EXIT_OK;
}
