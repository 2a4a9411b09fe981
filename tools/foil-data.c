#include "foil-data/data.h"

static const struct opt no_opts[] = {{0}},
                        fetch_opts[] = {STAGE_FETCH_OPTS, {0}};

static const struct {
    struct opt_tool tool;
    verb_run *run;
} verbs[] = {
    {{"foil-data index", "make the index that other tools read", "PATH ...", 1,
      1 << 20, index_opts},
     run_index},
    {{"foil-data join", "join indexes to one set, without a copy", "INDEX ...",
      1, 1 << 20, join_opts},
     run_join},
    {{"foil-data deal", "copy a set to tars of random samples", "N DATA", 2, 2,
      deal_opts},
     run_deal},
    {{"foil-data import",
      "make a tar of JPEGs from a data set in a binary format", "FORM FILE ...",
      2, 1 << 20, import_opts},
     run_import},
    {{"foil-data generate", "make a tar of labelled shapes and textures",
      "COUNT", 1, 1, generate_opts},
     run_generate},
    {{"foil-data split",
      "divide a set at random, class by class, without a copy",
      "DATA PART REST", 3, 3, split_opts},
     run_split},
    {{"foil-data longtail",
      "make a long-tailed subset: few large and many small classes", "DATA", 1,
      1, longtail_opts},
     run_longtail},
    {{"foil-data corrupt",
      "corrupt images by noise, blur, weather or processing", "DATA", 1, 1,
      corrupt_opts},
     run_corrupt},
    {{"foil-data group", "find samples that belong together", "DATA", 1, 1,
      group_opts},
     run_group},
    {{"foil-data vocabulary", "learn the tokens of captions", "DATA ...", 1,
      1 << 20, vocabulary_opts},
     run_vocabulary},
    {{"foil-data info", "print size, classes and digest", "DATA [OTHER]", 1, 2,
      no_opts},
     run_info},
    {{"foil-data classes", "print the classes and their sizes", "DATA", 1, 1,
      fetch_opts},
     run_classes},
    {{"foil-data list", "print the samples as a table", "DATA", 1, 1,
      list_opts},
     run_list},
    {{"foil-data cat", "print the image of a sample", "DATA ID", 2, 2,
      fetch_opts},
     run_cat},
    {{"foil-data sheet", "draw lists of samples as a picture", "TRAIN [TEST]",
      1, 2, sheet_opts},
     run_sheet},
    {{"foil-data views", "draw the views that a step was trained on", "RUN", 1,
      1, views_opts},
     run_views},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static const struct opt_tool tool = {
    .name = "foil-data",
    .summary = "make, import, index, split, corrupt and list data sets",
};

int
main(int argc, char **argv)
{
    static struct opt_tool tools[VERBS + 1];
    const struct opt_tool *verb;
    char **operand;

    for (size_t i = 0; i < VERBS; i++)
        tools[i] = verbs[i].tool;
    verb = opt_verb(&tool, tools, argc, argv, &operand);
    end_when_stopped();
    stage_fetch_use();
    verbs[verb - tools].run(operand);
    close_stdout();
    return EXIT_OK;
}
