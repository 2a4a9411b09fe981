#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "util/err.h"
#include "util/guess.h"
#include "util/opt.h"

enum { LONGEST = 64 };

static size_t
smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Counts the changes that turn a into b (the optimal string alignment
 * distance). */
static size_t
count_changes(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t d[LONGEST][LONGEST]; // changes between the first letters of both

    REQUIRE(n < LONGEST && m < LONGEST);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = smaller_size(smaller_size(d[i - 1][j], d[i][j - 1]) + 1,
                                   d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller_size(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

void
guess_try(struct guess *guess, const char *word)
{
    const size_t n = strlen(guess->word);
    size_t changes;

    if (n >= LONGEST || strlen(word) >= sizeof guess->best)
        return;
    changes = count_changes(guess->word, word);
    if (changes > 1 && !strcasecmp(guess->word, word))
        changes = 1;
    if (changes > 2 && n > 2 && !strncmp(guess->word, word, n))
        changes = 2;
    if (changes > 2 || 2 * changes >= strlen(word) ||
        (*guess->best && changes >= guess->changes))
        return;
    snprintf(guess->best, sizeof guess->best, "%s", word);
    guess->changes = changes;
}

/* Options of other programs, and the suggestion: the first of our options that
 * the tool has, else the last entry; one of more than one word is a text. */
static const struct {
    const char *theirs, *ours;
} others[] = {
    {"learning-rate|base-lr|blr|init-lr", "lr"},
    {"temperature|temp|nce-t|moco-t|tau",
     "tau|foil-train has it, as --objective ,tau=X"},
    {"batch-size|bs|batchsize|train-batch-size|mini-batch-size|"
     "per-device-train-batch-size|batch",
     "batch"},
    {"num-epochs|max-epochs|n-epochs|num-train-epochs|total-epochs|epochs",
     "epochs"},
    {"max-steps|num-steps|total-steps|max-iter|iterations|iters", "steps"},
    {"workers|num-workers|n-workers|dataloader-workers", "augmenters"},
    {"num-threads|n-threads|jobs|n-jobs|cpus|num-cpus", "threads"},
    {"model|backbone|architecture|network|net|model-name|encoder-name|"
     "base-encoder",
     "arch|a checkpoint, such as run/x, is an operand"},
    {"loss|criterion|loss-fn|loss-type|method", "objective"},
    {"optimizer|optimiser|opt", "optim"},
    {"weight-decay|wd|l2-reg", "l2|weight-decay"},
    {"scheduler|lr-scheduler|lr-schedule|lr-policy|sched|lr-scheduler-type",
     "schedule"},
    {"warmup-epochs|warmup-steps|warmup-ratio", "warmup"},
    {"accumulate-grad-batches|gradient-accumulation-steps|grad-accum|"
     "accumulation-steps|accum-iter|iter-size",
     "accumulate"},
    {"amp|fp16|bf16|fp32|half|mixed-precision|use-amp|dtype", "precision"},
    {"image-size|img-size|imsize|crop-size|input-size|resolution|resize|"
     "image-res",
     "size"},
    {"random-seed|manual-seed|random-state", "seed"},
    {"output-dir|output|out|out-dir|save-dir|log-dir|work-dir|exp-dir|"
     "checkpoint-dir|ckpt-dir|exp-name|run-name|name|save-path|logdir|"
     "default-root-dir",
     "run|output|the result is on standard output: '> FILE' writes it"},
    {"n-views|num-views|num-crops|n-crops", "views"},
    {"aug|augs|augmentation|transform|transforms|data-augmentation", "recipe"},
    {"dim|feature-dim|embedding-dim|embed-dim|proj-dim|projection-dim|"
     "out-dim|hidden-dim|latent-dim|z-dim|feat-dim|moco-dim|mlp-dim",
     "head"},
    {"save-freq|save-every|save-interval|save-steps|checkpoint-freq|"
     "checkpoint-interval|ckpt-every",
     "checkpoint-every"},
    {"save-total-limit|max-checkpoints|save-top-k", "keep"},
    {"host|bind|ip|listen", "address"},
    {"ema|ema-decay|use-ema|swa", "average-last"},
    {"drop-last", "remainder"},
    {"ratio|fraction|train-ratio|test-size|split-ratio", "share|foil-data "
                                                         "split has --share"},
    {"world-size|nproc|nproc-per-node|nnodes|num-nodes|num-processes|"
     "distributed|ddp|local-rank|multi-gpu",
     "ranks"},
    {"prefetch-factor|prefetch", "window"},
    {"freeze-backbone|frozen|lock-image", "freeze"},
    {"k|knn-k|num-neighbors|n-neighbors|neighbors|top-k|n-neighbours",
     "neighbours|'foil eval knn' has it, as -k"},
    {"wandb|tensorboard|logger|mlflow|comet|report-to|tb-dir|use-wandb",
     "tensorboard|'foil runs --tensorboard DIR' writes curves, 'foil view "
     "RUN' shows them"},
    {"pretrained|pretrained-weights|weights|checkpoint|ckpt|ckpt-path|"
     "checkpoint-path|model-path|load|load-from|resume-from|"
     "resume-from-checkpoint|restore|finetune",
     "init|a checkpoint, such as run/x, is an operand"},
    {"data|dataset|data-dir|data-path|data-root|dataset-path|dataset-name|"
     "train-dir|train-data|train-path|input|input-dir|images|image-dir|"
     "imagefolder|root",
     "data|the data set is an operand: 'foil run simclr photos/'"},
    {"val-dir|val-data|test-dir|test-data|val-path|eval-data|validation|"
     "val-split",
     "data for an evaluation are an operand after those for training"},
    {"eval-every|eval-freq|eval-interval|val-every|eval-steps|"
     "check-val-every-n-epoch|do-eval|evaluate",
     "'foil eval follow -r RUN' evaluates checkpoints as they appear"},
    {"grad-clip|clip-grad|clip-grad-norm|max-grad-norm|gradient-clip-val|clip",
     "foil does not clip gradients; --nonfinite and --warmup help against "
     "steps that are too large"},
    {"queue-size|queue|moco-k|memory-bank|num-negatives|queue-length",
     "negatives from outside the batch: foil-negatives(1)"},
    {"moco-m|momentum-encoder|base-momentum|target-decay",
     "foil has no momentum encoder; --average-last averages weights"},
    {"no-augment|no-aug|no-augmentation",
     "--recipe none makes views without augmentation"},
    {"early-stopping|patience",
     "all epochs are trained; Ctrl-C or 'foil stop RUN' saves and ends a run"},
    {"num-classes|n-classes|nb-classes|classes",
     "training takes no labels; evaluations count the classes themselves"},
    {"labels|label-file|annotations|annotation-file|csv",
     "labels are folders of images, or a column of a table: foil-data(1)"},
    {"shuffle|no-shuffle",
     "each epoch has an order of its own, unless --strategy sets another"},
    {"pin-memory|persistent-workers|cache-dataset",
     "batches are made ahead by augmenters; --augmenters N sets how many"},
    {"verbose|debug|log-level|quiet|log-every|print-freq|log-interval|"
     "log-freq|progress|logging-steps",
     "messages are in RUN/log; 'foil top RUN' and 'foil view RUN' show a run"},
    {"device|devices|gpu|gpus|cuda|use-cuda|no-cuda|mps|gpu-id|gpu-ids|"
     "num-gpus|accelerator|cpu|use-gpu|dist-backend|compile",
     "foil computes on processors (CPUs), leave it out; foil-python(7) has "
     "encoders on a GPU"},
};

const char *
guess_other(const char *word,
            const char *(*spell)(void *self, const char *name), void *self)
{
    static char text[256];
    char theirs[LONGEST], ours[256], *rest = ours;
    size_t row = 0;

    snprintf(theirs, sizeof theirs, "%s", word);
    for (char *at = theirs; (at = strchr(at, '_'));)
        *at = '-';
    while (row < sizeof others / sizeof *others &&
           opt_index(others[row].theirs, theirs) < 0)
        row++;
    if (row == sizeof others / sizeof *others)
        return NULL;
    snprintf(ours, sizeof ours, "%s", others[row].ours);
    for (const char *name; (name = strtok_r(rest, "|", &rest));) {
        const char *spelled = strchr(name, ' ') ? NULL : spell(self, name);

        if (spelled)
            snprintf(text, sizeof text, "it is %s", spelled);
        else if (strchr(name, ' '))
            snprintf(text, sizeof text, "%s", name);
        else
            snprintf(text, sizeof text, "'foil run' has it, as --%s", name);
        if (spelled)
            break;
    }
    return text;
}

const char *
guess_words(struct guess *guess)
{
    if (*guess->best)
        snprintf(guess->words, sizeof guess->words, ": did you mean '%s%s'?",
                 guess->lead ? guess->lead : "", guess->best);
    return guess->words;
}
