#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foil-embed/embed.h"
#include "image/codec.h"
#include "image/view.h"
#include "nn/average.h"
#include "nn/export.h"
#include "num/threads.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const char *output, *recipe_spec;
static int head, skip; // --layer, --bad
static const char *lines, *classes, *templates, *vocabulary, *export, *onnx;
static const char *licence, *shard, *projector;
static int raw, descriptor, untrained, average, captions, dry;
static long size, seed, view, batch = 256, threads;
static long max_pixels = IMAGE_MAX_PIXELS;

static const struct opt opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "features, .npy, .npz, .parquet or .csv; required"},
    {"projector", 0, OPT_TEXT, &projector, 0, 0, "DIR",
     "also write files for TensorBoard's projector, for images"},
    {"export", 0, OPT_TEXT, &export, 0, 0, "FILE",
     "write the encoder, .safetensors, or DIR/ for timm and others, instead "
     "of features; with --captions the text encoder"},
    {"licence", 0, OPT_TEXT, &licence, 0, 0, "TEXT",
     "with --export DIR/: the licence on its card"},
    {"onnx", 0, OPT_TEXT, &onnx, 0, 0, "FILE",
     "write the encoder as an ONNX "
     "model, instead of features"},
    {"layer", 0, OPT_CHOICE, &head, 0, 0, "h|z",
     "the encoder's features or the head's embeddings"},
    {"untrained", 0, OPT_FLAG, &untrained, 0, 0, NULL,
     "use initial weights instead of the checkpoint's"},
    {"average", 0, OPT_FLAG, &average, 0, 0, NULL,
     "use the averaged weights, see foil-train --average"},
    {"raw", 0, OPT_FLAG, &raw, 0, 0, NULL,
     "no encoder: features are pixels, or tokens"},
    {"descriptor", 0, OPT_FLAG, &descriptor, 0, 0, NULL,
     "no encoder: features are colours and edges"},
    {"size", 0, OPT_WHOLE, &size, 0, 1024, "N",
     "images are N x N; 0: as in training; without encoder 32 or 64"},
    {"recipe", 0, OPT_TEXT, &recipe_spec, 0, 0, "SPEC",
     "use augmented views, by NAME[,FIELD=X]...; else plain images"},
    {"view", 0, OPT_WHOLE, &view, 0, 65535, "N",
     "number of the augmented view"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N",
     "seed of augmented views and initial weights"},
    {"captions", 0, OPT_FLAG, &captions, 0, 0, NULL,
     "embed the captions of the data set, not its images"},
    {"lines", 0, OPT_TEXT, &lines, 0, 0, "FILE",
     "embed the lines of a text file, instead of a data set"},
    {"classes", 0, OPT_TEXT, &classes, 0, 0, "FILE",
     "embed names of classes, a line each: a row for each"},
    {"templates", 0, OPT_TEXT, &templates, 0, 0, "FILE",
     "texts with {} for the name of a class, a line each"},
    {"vocabulary", 0, OPT_TEXT, &vocabulary, 0, 0, "FILE",
     "with --raw --captions: vocabulary of the tokens"},
    {"shard", 0, OPT_TEXT, &shard, 0, 0, "I/N",
     "only the I-th of N parts of the images"},
    {"batch", 'b', OPT_WHOLE, &batch, 1, 65536, "N",
     "images or texts at a time"},
    {"bad", 0, OPT_CHOICE, &skip, 0, 0, "refuse|skip",
     "what to do with a damaged image"},
    {"max-pixels", 0, OPT_WHOLE, &max_pixels, 1, 1e9, "N",
     "an image with more pixels is bad"},
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    {"dry-run", 0, OPT_FLAG, &dry, 0, 0, NULL,
     "check the options, open no file, and end"},
    {0},
};

static const struct opt_tool tool = {
    "foil-embed",
    "turn the images of a data set into features",
    "[CHECKPOINT] [DATA]",
    1,
    2,
    opts,
};

/* Embeds texts if the options ask for it: 1, else 0. */
static int
embed_texts(char **operand)
{
    const int whole = !raw || !captions; // needs a checkpoint
    const struct embed_text_job job = {
        .checkpoint = whole ? operand[0] : NULL,
        .output = output,
        .vocabulary = vocabulary,
        .data = captions ? operand[whole] : NULL,
        .lines = lines,
        .classes = classes,
        .templates = templates,
        .batch = (size_t)batch,
        .head = !opt_is_set(&head) || head,
        .average = average,
    };

    if (templates && !classes)
        opt_misuse("--templates is for --classes");
    if (!vocabulary != !(raw && captions))
        opt_misuse("--raw --captions and --vocabulary go together");
    if (captions + !!lines + !!classes == 0)
        return 0;
    if (shard || projector)
        opt_misuse("--%s is for images", shard ? "shard" : "projector");
    if (captions + !!lines + !!classes > 1 || (raw && !captions) ||
        descriptor || untrained || recipe_spec)
        opt_misuse("--captions, --lines and --classes go alone");
    if ((operand[1] == NULL) == (captions && whole))
        opt_misuse(!whole     ? "wants DATA alone"
                   : captions ? "wants CHECKPOINT and DATA"
                              : "wants CHECKPOINT alone");
    if (!dry)
        embed_text_job(&job);
    return 1;
}

/* Whether a path is a checkpoint, or a run directory that has one. */
static int
is_checkpoint(const char *path)
{
    char *manifest = mem_format("%s/MANIFEST.json", path);
    char *latest = mem_format("%s/latest", path);
    const int found = file_exists(manifest) || file_exists(latest);

    free(manifest);
    free(latest);
    return found;
}

/* Checks operands and -o together. */
static void
check_files(char **operand)
{
    const char *dot = output ? strrchr(output, '.') : NULL;

    if (operand[1] && is_checkpoint(operand[1]) && !is_checkpoint(operand[0]))
        opt_misuse("'%s' is a checkpoint, and '%s' is none: CHECKPOINT comes "
                   "first, then DATA",
                   operand[1], operand[0]);
    if (dot && !strchr(dot, '/') && isalpha((unsigned char)dot[1]) &&
        strcasecmp(dot, ".npy") && strcasecmp(dot, ".npz") &&
        strcasecmp(dot, ".parquet") && strcasecmp(dot, ".csv"))
        opt_misuse("option '-o': '%s' does not end in .npy, .npz, .parquet or "
                   ".csv, the formats of features",
                   output);
}

/* Reads "2/8". */
static void
read_shard(long *part, long *parts)
{
    char more;

    if (shard && (sscanf(shard, "%ld/%ld%c", part, parts, &more) != 2 ||
                  *part < 1 || *part > *parts || *parts > 1000000))
        opt_misuse("option '--shard': '%s': want I/N, such as 2/8, I from 1 to "
                   "N",
                   shard);
}

static void
embed_images(char **operand)
{
    const int whole = !raw && !descriptor; // needs a checkpoint
    struct image_recipe recipe;
    long part = 1, parts = 1;
    struct err err;

    read_shard(&part, &parts);

    if ((operand[1] != NULL) != whole || raw + descriptor + untrained > 1)
        opt_misuse("wants CHECKPOINT and DATA, or DATA alone and --raw or "
                   "--descriptor");
    if (recipe_spec && image_recipe_find(recipe_spec, &recipe, &err))
        opt_misuse("%s", err.msg);
    if (dry)
        return;
    embed_image_job(&(struct embed_image_job){
        .checkpoint = whole ? operand[0] : NULL,
        .descriptor = descriptor,
        .data = operand[whole],
        .output = output,
        .projector = projector,
        .recipe = recipe_spec,
        .head = head,
        .untrained = untrained,
        .average = average,
        .skip = skip,
        .size = size,
        .seed = seed,
        .view = view,
        .batch = batch,
        .threads = threads,
        .part = part,
        .parts = parts,
        .max_pixels = max_pixels,
    });
}

/* Exports the encoder if the options ask for it: 1, else 0. */
static int
export_encoder(char **operand)
{
    const int folder = export && *export && export[strlen(export) - 1] == '/';
    struct nn_model model;
    struct err err;

    if (!export && !onnx)
        return 0;
    if (operand[1] || output || raw || descriptor || untrained || lines ||
        classes)
        opt_misuse(
            "--export and --onnx want CHECKPOINT alone, and no features");
    if (captions && (onnx || folder))
        opt_misuse("--onnx and --export DIR/ are for encoders of images");
    if (licence && !folder)
        opt_misuse("--licence is for --export DIR/");
    if (dry)
        return 1;
    if (folder) {
        embed_folder_job(&(struct embed_folder_job){
            .checkpoint = operand[0],
            .folder = export,
            .licence = licence,
            .average = average,
        });
        if (!onnx)
            return 1;
        export = NULL;
    }
    if ((captions
             ? nn_model_open_text(&model, operand[0], 1, &err)
             : nn_model_open(&model, operand[0], 1, 0, NULL, NULL, &err)) ||
        (average && nn_average_use(&model, &err)) ||
        (export && nn_export_safetensors(export, &model, &err)) ||
        (onnx && nn_export_onnx(onnx, &model, &err)))
        die("%s", err.msg);
    nn_model_release(&model);
    return 1;
}

int
main(int argc, char **argv)
{
    char **operand;

    num_threads_sleep(argv);
    operand = opt_parse(&tool, argc, argv);
    if (!output && !export && !onnx)
        opt_misuse("wants a file to write to, -o FILE");
    if (average && (raw || descriptor || untrained))
        opt_misuse("--average is for the weights of a checkpoint, and goes "
                   "without --raw, --descriptor and --untrained");
    threads = num_threads((int)threads);
    check_files(operand);
    end_when_stopped();
    if (!export_encoder(operand) && !embed_texts(operand))
        embed_images(operand);
    close_stdout();
    return EXIT_OK;
}
