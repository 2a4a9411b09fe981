#include "foil-data/data.h"

static const struct opt no_opts[] = {{0}};

enum verb {
    INDEX,
    IMPORT,
    GENERATE,
    SPLIT,
    LONGTAIL,
    CORRUPT,
    GROUP,
    VOCABULARY,
    INFO,
    CLASSES,
    LIST,
    CAT,
    SHEET,
    VIEWS
};

static const struct opt_tool verbs[] = {
    [INDEX] = {"foil-data index", "make the index that other tools read",
               "PATH ...", 1, 1 << 20, index_opts},
    [IMPORT] = {"foil-data import",
                "make a tar of JPEGs from a data set in a binary format",
                "FORM FILE ...", 2, 1 << 20, import_opts},
    [GENERATE] = {"foil-data generate",
                  "make a tar of labelled shapes and textures", "COUNT", 1, 1,
                  generate_opts},
    [SPLIT] = {"foil-data split",
               "divide a set at random, class by class, without a copy",
               "DATA PART REST", 3, 3, split_opts},
    [LONGTAIL] = {"foil-data longtail",
                  "make a long-tailed subset: few large and many small classes",
                  "DATA", 1, 1, longtail_opts},
    [CORRUPT] = {"foil-data corrupt",
                 "corrupt images by noise, blur, weather or processing", "DATA",
                 1, 1, corrupt_opts},
    [GROUP] = {"foil-data group", "find samples that belong together", "DATA",
               1, 1, group_opts},
    [VOCABULARY] = {"foil-data vocabulary", "learn the tokens of captions",
                    "DATA ...", 1, 1 << 20, vocabulary_opts},
    [INFO] = {"foil-data info", "print size, classes and digest",
              "DATA [OTHER]", 1, 2, no_opts},
    [CLASSES] = {"foil-data classes", "print the classes and their sizes",
                 "DATA", 1, 1, no_opts},
    [LIST] = {"foil-data list", "print the samples as a table", "DATA", 1, 1,
              list_opts},
    [CAT] = {"foil-data cat", "print the image of a sample", "DATA ID", 2, 2,
             no_opts},
    [SHEET] = {"foil-data sheet", "draw lists of samples as a picture",
               "TRAIN [TEST]", 1, 2, sheet_opts},
    [VIEWS] = {"foil-data views", "draw the views that a step was trained on",
               "RUN", 1, 1, views_opts},
    {0},
};

static void (*const run[])(char **operand) = {
    [INDEX] = run_index,       [IMPORT] = run_import,
    [GENERATE] = run_generate, [SPLIT] = run_split,
    [LONGTAIL] = run_longtail, [CORRUPT] = run_corrupt,
    [GROUP] = run_group,       [VOCABULARY] = run_vocabulary,
    [CLASSES] = run_classes,   [INFO] = run_info,
    [LIST] = run_list,         [CAT] = run_cat,
    [SHEET] = run_sheet,       [VIEWS] = run_views,
};

static const struct opt_tool tool = {
    .name = "foil-data",
    .summary = "make, import, index, split, corrupt and list data sets",
};

int
main(int argc, char **argv)
{
    char **operand;
    const struct opt_tool *verb = opt_verb(&tool, verbs, argc, argv, &operand);

    end_when_stopped();
    run[verb - verbs](operand);
    close_stdout();
    return EXIT_OK;
}
