#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "augment.h"
#include "stage/fetch.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/batch.h"

enum {
    SMALL = 64,    /* maximum pixels of a small view's side */
    VIEWS_MAX = 64 /* views of a sample */
};

static struct augment_options options = {
    .max_pixels = IMAGE_MAX_PIXELS,
    .cache = 512,
    .room = 2,
    .rows = 8,
    .columns = 4,
    .max_bad = 0.01,
    .limit = 600,
    .bad_shards = LONG_MIN,
    .text = {TEXT_CAPTION_RANDOM, 0, 0},
};
static const char *recipe_spec;
static const char *size, *views = "2";
static long context = 32;
static int list = -1;

static const struct opt opts[] = {
    STAGE_RUN_OPT(options.stage),
    {"plan", 0, OPT_TEXT, &options.plan, 0, 0, "ENDPOINT",
     "endpoint of the selector [ipc://DIR/plan]"},
    {"filter", 0, OPT_FLAG, &options.filter, 0, 0, NULL,
     "get items from foil-negatives [ipc://DIR/items]"},
    {"batches", 0, OPT_TEXT, &options.batches, 0, 0, "ENDPOINT",
     "endpoint of the trainer [ipc://DIR/batch]"},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N",
     "seed of the random numbers"},
    {"views", 'v', OPT_TEXT, &views, 0, 0, "N|NxSIZE+NxSIZE",
     "augmented views of each sample; in two sizes as 2x32+6x16"},
    {"small-recipe", 0, OPT_TEXT, &options.small_spec, 0, 0, "SPEC",
     "augmentations of the second size [that of --recipe]"},
    {"augmentations", 'a', OPT_WHOLE, &options.augmentations, 0, WIRE_VIEW_MAX,
     "N", "fixed views to choose from; 0: new ones each time"},
    {"recipe", 0, OPT_TEXT, &recipe_spec, 0, 0, "SPEC",
     "augmentations: NAME[,FIELD=X]... [cifar; imagenet above 64 pixels]"},
    {"pair", 0, OPT_TEXT, &options.pair, 0, 0, "DATA",
     "rows of numbers for all views but the first"},
    {"size", 0, OPT_TEXT, &size, 0, 0, "N[@EPOCH]...",
     "width and height of views, by epoch as 16@0,32@8 [of the recipe]"},
    {"view-command", 0, OPT_TEXT, &options.command, 0, 0, "COMMAND",
     "your program that makes the views, instead of --recipe"},
    {"command-limit", 0, OPT_REAL, &options.limit, 0.1, 1e6, "SECONDS",
     "time limit of the command for a batch"},
    {"bad", 0, OPT_CHOICE, &options.policy, 0, 0, "refuse|accept",
     "what to do with a JPEG that decodes with a warning"},
    {"max-bad", 0, OPT_REAL, &options.max_bad, 0, 1, "X",
     "fail if a larger share of the data set, rounded up, is bad"},
    {"max-pixels", 0, OPT_WHOLE, &options.max_pixels, 1, 1e9, "N",
     "refuse images with more pixels"},
    STAGE_FETCH_OPTS,
    {"bad-shards", 0, OPT_WHOLE, &options.bad_shards, 0, 1e9, "N",
     "fail if more shards at a time cannot be fetched [wait for them]"},
    {"cache", 0, OPT_WHOLE, &options.cache, 0, 1e6, "MIB",
     "memory for decoded images"},
    {"room", 0, OPT_WHOLE, &options.room, 1, WIRE_WINDOW_MAX, "N",
     "items at once, including the one in work"},
    {"max-items", 0, OPT_WHOLE, &options.max_items, 0, 1e15, "N",
     "end after N items; 0: when the run ends"},
    {"vocabulary", 0, OPT_TEXT, &options.vocabulary, 0, 0, "FILE",
     "also send captions, as tokens of this vocabulary"},
    {"context", 0, OPT_WHOLE, &context, 2, WIRE_TOKENS_MAX, "N",
     "at most N tokens of a caption, including start and end"},
    {"caption", 0, OPT_CHOICE, &options.text.caption, 0, 0, TEXT_CAPTION_WORDS,
     "which of a sample's captions"},
    {"drop-tokens", 0, OPT_REAL, &options.text.drop, 0, 1, "X",
     "share of the tokens to drop at random"},
    {"sheet", 0, OPT_TEXT, &options.sheet, 0, 0, "FILE",
     "draw a contact sheet as PNG, and end"},
    {"rows", 0, OPT_WHOLE, &options.rows, 1, 100, "N",
     "rows of samples on the sheet"},
    {"columns", 0, OPT_WHOLE, &options.columns, 1, 100, "N",
     "columns of samples on the sheet"},
    {"list", 0, OPT_CHOICE, &list, 0, 0, "recipes|fields|options",
     "print all recipes, their fields or the options as JSON, one a line, and "
     "end"},
    {"dry-run", 0, OPT_FLAG, &options.dry, 0, 0, NULL,
     "check options and DATA, print how views are made, and end"},
    STAGE_KEYS_OPTS(options.stage),
    {0},
};

static const struct opt_tool tool = {
    "foil-augment",
    "turn plan items into batches of augmented views",
    "DATA",
    0,
    1,
    opts,
};

static void
print_recipes(void)
{
    const char *name;
    const struct image_field *field;
    struct image_recipe recipe;
    struct err err;

    for (size_t i = 0; (name = image_recipe_name(i)); i++) {
        json_t *fields = json_object();

        REQUIRE(!image_recipe_find(name, &recipe, &err));
        for (size_t k = 0; (field = image_recipe_field(k)); k++)
            json_object_set_new(fields, field->name,
                                json_real(image_recipe_get(&recipe, k)));
        json_print(json_pack("{s:s, s:I, s:o}", "name", name, "size",
                             (json_int_t)recipe.size, "fields", fields));
    }
}

static void
print_fields(void)
{
    const struct image_field *field;

    for (size_t i = 0; (field = image_recipe_field(i)); i++)
        json_print(json_pack("{s:s, s:f, s:f}", "name", field->name, "min",
                             field->min, "max", field->max));
}

/* Takes --views, whose groups may have sizes. */
static void
take_groups(void)
{
    struct image_groups groups;
    struct err err;

    if (image_groups_parse(views, VIEWS_MAX, &groups, &err))
        opt_misuse("--views: %s", err.msg);
    options.views = (long)groups.of[0].views;
    if (groups.n == 1 && options.small_spec)
        opt_misuse("--small-recipe is for two sizes, as --views 2x32+6x16");
    if (!groups.of[0].size)
        return;
    if (options.sizes.n)
        opt_misuse("--size and sizes in --views exclude each other");
    options.sizes =
        (struct image_sizes){.n = 1, .from = {{.size = groups.of[0].size}}};
    options.small_views = groups.n > 1 ? groups.of[1].views : 0;
    options.small.size = groups.of[1].size;
}

/* Sets the recipe of small views. */
static void
take_small_recipe(void)
{
    const size_t side = options.small.size;
    struct err err;

    if (options.command || options.vocabulary || options.sheet ||
        options.augmentations || options.filter)
        opt_misuse("views of two sizes are for new views of images by a "
                   "recipe: %s is for one size",
                   options.command         ? "--view-command"
                   : options.vocabulary    ? "--vocabulary"
                   : options.sheet         ? "--sheet"
                   : options.augmentations ? "--augmentations"
                                           : "--filter");
    options.small = options.recipe;
    if (options.small_spec &&
        image_recipe_find(options.small_spec, &options.small, &err))
        opt_misuse("--small-recipe: %s", err.msg);
    options.small.size = side;
}

const struct augment_options *
augment_options_get(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    struct image_sizes *sizes = &options.sizes;
    struct err err;

    if (list >= 0) {
        (list ? print_fields : print_recipes)();
        exit(EXIT_OK);
    }
    if (!operand[0])
        opt_misuse("needs DATA");
    options.data = operand[0];
    if (size && strcmp(size, "0") != 0 && image_sizes_parse(size, sizes, &err))
        opt_misuse("--size: %s", err.msg);
    take_groups();
    options.spec =
        sizes->n && image_sizes_largest(sizes) > SMALL ? "imagenet" : "cifar";
    if (recipe_spec)
        options.spec = recipe_spec;
    if (image_recipe_find(options.spec, &options.recipe, &err))
        opt_misuse("%s", err.msg);
    if (!sizes->n)
        *sizes = (struct image_sizes){.n = 1,
                                      .from = {{.size = options.recipe.size}}};
    options.recipe.size = image_sizes_at(sizes, 0);
    if (options.small_views)
        take_small_recipe();
    opt_together(&options.stage.keys, &options.stage.allow);
    if (!options.sheet && !options.stage.run &&
        !(options.plan && options.batches))
        opt_misuse("needs -r DIR, or --plan and --batches, or --sheet");
    if (options.augmentations && options.augmentations < options.views)
        opt_misuse("%ld views of %ld fixed ones are too many", options.views,
                   options.augmentations);
    if (options.augmentations == 1)
        opt_misuse("--augmentations 1 leaves nothing to choose from");
    if (!options.command && opt_is_set(&options.limit))
        opt_misuse("--command-limit belongs to --view-command");
    if (options.command && recipe_spec)
        opt_misuse("--view-command and --recipe exclude each other");
    if (options.command && options.sheet)
        opt_misuse("--sheet draws views of a recipe");
    if (!options.vocabulary &&
        (opt_is_set(&context) || opt_is_set(&options.text.caption) ||
         opt_is_set(&options.text.drop)))
        opt_misuse("--context, --caption and --drop-tokens need --vocabulary");
    if (options.bad_shards >= 0 && !stage_fetch.command)
        opt_misuse("--bad-shards belongs to --fetch");
    stage_fetch_use();
    options.text.context = (size_t)context;
    return &options;
}

void
augment_recipe(char hex[DIGEST_HEX])
{
    const int64_t more[] = {options.seed, options.views, options.augmentations,
                            options.policy};
    struct digest_stream *stream = digest_new();

    digest_add(stream, &options.recipe, sizeof options.recipe);
    digest_add(stream, more, sizeof more);
    if (options.sizes.n > 1)
        digest_add(stream, size, strlen(size));
    if (options.vocabulary) {
        const int64_t caption = options.text.caption;

        digest_add(stream, &caption, sizeof caption);
        digest_add(stream, &options.text.drop, sizeof options.text.drop);
    }
    if (options.command)
        digest_add(stream, options.command, strlen(options.command));
    if (options.small_views) {
        digest_add(stream, &options.small, sizeof options.small);
        digest_add(stream, &options.small_views, sizeof options.small_views);
    }
    digest_hex(digest_end(stream), hex);
}

void
augment_view_options(char *view_options, size_t room)
{
    const int varies = options.sizes.n > 1;
    // links are not resolved: the index is next to the path that was given
    char *folder = *options.data == '/' ? mem_text("") : getcwd(NULL, 0);
    char *path =
        folder ? mem_format("%s%s%s", folder, *folder ? "/" : "", options.data)
               : NULL;
    char *text;
    json_t *object = json_pack(
        "{s:s*, s:o, s:I, s:I, s:I, s:o*, s:s*, s:o*, s:s*}", "recipe",
        options.command ? NULL : options.spec, varies ? "sizes" : "size",
        varies ? json_string(size)
               : json_integer((json_int_t)options.recipe.size),
        "seed", (json_int_t)options.seed, "views", (json_int_t)options.views,
        "augmentations", (json_int_t)options.augmentations, "data",
        json_string(path), "caption",
        options.vocabulary ? opt_choice(&options.text.caption) : NULL,
        "command", options.command ? json_true() : NULL, "groups",
        options.small_views ? views : NULL); // data if UTF-8

    text = json_text(object, JSON_COMPACT);
    if (strlen(text) >= room) {
        json_object_del(object, "data");
        free(text);
        text = json_text(object, JSON_COMPACT);
    }
    snprintf(view_options, room, "%s", strlen(text) < room ? text : "");
    free(text);
    json_decref(object);
    mem_free(folder, path);
}
