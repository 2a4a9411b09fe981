#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foil-embed/embed.h"
#include "image/codec.h"
#include "image/view.h"
#include "nn/export.h"
#include "num/threads.h"
#include "stage/fetch.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static struct embed_options options = {
    .batch = 256,
    .part = 1,
    .parts = 1,
    .max_pixels = IMAGE_MAX_PIXELS,
    .limit = 600,
};

static const struct opt opts[] = {
    {"output", 'o', OPT_TEXT, &options.output, 0, 0, "FILE",
     "features, .npy, .npz, .parquet or .csv; required"},
    {"projector", 0, OPT_TEXT, &options.projector, 0, 0, "DIR",
     "also write files for TensorBoard's projector, for images"},
    {"export", 0, OPT_TEXT, &options.export, 0, 0, "FILE",
     "write the encoder, .safetensors, or DIR/ for timm and others, instead "
     "of features; with --captions the text encoder"},
    {"licence", 0, OPT_TEXT, &options.licence, 0, 0, "TEXT",
     "with --export DIR/: the licence in the model card"},
    {"onnx", 0, OPT_TEXT, &options.onnx, 0, 0, "FILE",
     "write the encoder as an ONNX model, instead of features"},
    {"layer", 0, OPT_CHOICE, &options.head, 0, 0, "h|z",
     "the encoder's features or the head's embeddings"},
    {"untrained", 0, OPT_FLAG, &options.untrained, 0, 0, NULL,
     "use initial weights instead of the checkpoint's"},
    {"average", 0, OPT_FLAG, &options.average, 0, 0, NULL,
     "use the averaged weights, see foil-train --average-last"},
    {"encoder", 0, OPT_TEXT, &options.encoder, 0, 0, "COMMAND",
     "a program of yours that computes the encoder [that of the checkpoint]"},
    {"command-limit", 0, OPT_REAL, &options.limit, 0.1, 1e6, "SECONDS",
     "time limit for its answers"},
    {"raw", 0, OPT_FLAG, &options.raw, 0, 0, NULL,
     "no encoder: features are pixels, or tokens"},
    {"descriptor", 0, OPT_FLAG, &options.descriptor, 0, 0, NULL,
     "no encoder: features are colours and edges"},
    {"size", 0, OPT_WHOLE, &options.size, 0, 1024, "N",
     "images are N x N; 0: as in training; without encoder 32 or 64"},
    {"recipe", 0, OPT_TEXT, &options.recipe, 0, 0, "SPEC",
     "use augmented views, by NAME[,FIELD=X]...; else plain images"},
    {"view", 0, OPT_WHOLE, &options.view, 0, 65535, "N",
     "number of the augmented view"},
    {"seed", 's', OPT_WHOLE, &options.seed, 0, 1e15, "N",
     "seed of augmented views and initial weights"},
    {"captions", 0, OPT_FLAG, &options.captions, 0, 0, NULL,
     "embed the captions of the data set, not its images"},
    {"lines", 0, OPT_TEXT, &options.lines, 0, 0, "FILE",
     "embed the lines of a text file, instead of a data set"},
    {"classes", 0, OPT_TEXT, &options.classes, 0, 0, "FILE",
     "embed class names, one per line: one row each"},
    {"templates", 0, OPT_TEXT, &options.templates, 0, 0, "FILE",
     "texts with {} for the name of a class, a line each"},
    {"vocabulary", 0, OPT_TEXT, &options.vocabulary, 0, 0, "FILE",
     "with --raw --captions: vocabulary of the tokens"},
    {"shard", 0, OPT_TEXT, &options.shard, 0, 0, "I/N",
     "only the I-th of N parts of the images"},
    {"batch", 'b', OPT_WHOLE, &options.batch, 1, 65536, "N",
     "images or texts at a time"},
    {"bad", 0, OPT_CHOICE, &options.skip, 0, 0, "refuse|skip",
     "what to do with a damaged image"},
    {"max-pixels", 0, OPT_WHOLE, &options.max_pixels, 1, 1e9, "N",
     "an image with more pixels is bad"},
    STAGE_FETCH_OPTS,
    {"threads", 0, OPT_WHOLE, &options.threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    {"dry-run", 0, OPT_FLAG, &options.dry, 0, 0, NULL,
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
    const struct embed_options *o = &options;
    const int whole = !o->raw || !o->captions; // needs a checkpoint

    if (o->templates && !o->classes)
        opt_misuse("--templates is for --classes");
    if (!o->vocabulary != !(o->raw && o->captions))
        opt_misuse("--raw --captions and --vocabulary go together");
    if (o->captions + !!o->lines + !!o->classes == 0)
        return 0;
    if (o->shard || o->projector)
        opt_misuse("--%s is for images", o->shard ? "shard" : "projector");
    if (o->captions + !!o->lines + !!o->classes > 1 ||
        (o->raw && !o->captions) || o->descriptor ||
        (o->untrained && (!o->captions || o->raw)) || o->recipe)
        opt_misuse("give --captions, --lines or --classes alone");
    if ((operand[1] == NULL) == (o->captions && whole))
        opt_misuse(!whole        ? "needs DATA alone"
                   : o->captions ? "needs CHECKPOINT and DATA"
                                 : "needs CHECKPOINT alone");
    options.checkpoint = whole ? operand[0] : NULL;
    options.data = o->captions ? operand[whole] : NULL;
    options.head |= !opt_is_set(&options.head);
    if (!o->dry)
        embed_text_job(&options);
    return 1;
}

/* Whether a path is a checkpoint, or a run directory that has one. */
static int
is_checkpoint(const char *path)
{
    return file_exists(mem_temp("%s/MANIFEST.json", path)) ||
           file_exists(mem_temp("%s/latest", path));
}

/* Checks operands and -o together. */
static void
check_files(char **operand)
{
    const char *dot = options.output ? strrchr(options.output, '.') : NULL;

    if (operand[1] && is_checkpoint(operand[1]) && !is_checkpoint(operand[0]))
        opt_misuse("'%s' is a checkpoint, and '%s' is none: CHECKPOINT comes "
                   "first, then DATA",
                   operand[1], operand[0]);
    if (dot && !strchr(dot, '/') && isalpha((unsigned char)dot[1]) &&
        strcasecmp(dot, ".npy") && strcasecmp(dot, ".npz") &&
        strcasecmp(dot, ".parquet") && strcasecmp(dot, ".csv"))
        opt_misuse("option '-o': '%s' does not end in .npy, .npz, .parquet or "
                   ".csv, the formats of features",
                   options.output);
}

static void
embed_images(char **operand)
{
    struct embed_options *o = &options;
    const int whole = !o->raw && !o->descriptor; // needs a checkpoint
    struct image_recipe recipe;
    struct err err;
    char more;

    if (o->shard &&
        (sscanf(o->shard, "%ld/%ld%c", &o->part, &o->parts, &more) != 2 ||
         o->part < 1 || o->part > o->parts || o->parts > 1000000))
        opt_misuse("option '--shard': '%s': want I/N, such as 2/8, I from 1 to "
                   "N",
                   o->shard);
    if ((operand[1] != NULL) != whole ||
        o->raw + o->descriptor + o->untrained > 1)
        opt_misuse("needs CHECKPOINT and DATA, or DATA alone and --raw or "
                   "--descriptor");
    if (o->recipe && image_recipe_find(o->recipe, &recipe, &err))
        opt_misuse("%s", err.msg);
    o->checkpoint = whole ? operand[0] : NULL;
    o->data = operand[whole];
    if (!o->dry)
        embed_image_job(o);
}

/* Exports the encoder if the options ask for it: 1, else 0. */
static int
export_encoder(char **operand)
{
    struct embed_options *o = &options;
    const int folder =
        o->export && *o->export && o->export[strlen(o->export) - 1] == '/';
    struct nn_model model;
    struct err err;

    if (!o->export && !o->onnx)
        return 0;
    if (operand[1] || o->output || o->raw || o->descriptor || o->untrained ||
        o->lines || o->classes)
        opt_misuse(
            "--export and --onnx need CHECKPOINT alone, and no features");
    if (o->captions && (o->onnx || folder))
        opt_misuse("--onnx and --export DIR/ are for encoders of images");
    if (o->licence && !folder)
        opt_misuse("--licence is for --export DIR/");
    if (o->dry)
        return 1;
    o->checkpoint = operand[0];
    if (folder) {
        embed_folder_job(o);
        if (!o->onnx)
            return 1;
    }
    or_die(nn_model_read(&model, o->checkpoint, o->captions, &err) ||
               nn_model_build(&model, 1, 0, o->average, &err) ||
               (o->export && !folder &&
                nn_export_safetensors(o->export, &model, &err)) ||
               (o->onnx && nn_export_onnx(o->onnx, &model, &err)),
           &err);
    nn_model_release(&model);
    return 1;
}

int
main(int argc, char **argv)
{
    const struct embed_options *o = &options;
    char **operand;

    num_threads_sleep(argv);
    operand = opt_parse(&tool, argc, argv);
    if (!o->output && !o->export && !o->onnx)
        opt_misuse("needs a file to write to, -o FILE");
    if (o->average && (o->raw || o->descriptor || o->untrained))
        opt_misuse("--average is for the weights of a checkpoint, and goes "
                   "without --raw, --descriptor and --untrained");
    if (o->encoder && (o->raw || o->descriptor || o->export || o->onnx))
        opt_misuse("--encoder makes features with a checkpoint, and goes "
                   "without --raw, --descriptor, --export and --onnx");
    options.threads = num_threads((int)o->threads);
    check_files(operand);
    stage_fetch_use();
    end_when_stopped();
    if (!export_encoder(operand) && !embed_texts(operand))
        embed_images(operand);
    close_stdout();
    return EXIT_OK;
}
