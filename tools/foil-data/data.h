#ifndef FOIL_DATA_H
#define FOIL_DATA_H

#include "data/pack.h"
#include "data/set.h"
#include "image/codec.h"
#include "util/opt.h"
#include "util/progress.h"

/* The verbs of foil-data: a table of options and a function each. */

extern const struct opt index_opts[], import_opts[], generate_opts[];
extern const struct opt split_opts[], longtail_opts[], corrupt_opts[],
    group_opts[], vocabulary_opts[], list_opts[], sheet_opts[], views_opts[];

void run_index(char **place);
void run_import(char **operand);
void run_generate(char **operand);
void run_split(char **operand);
void run_longtail(char **operand);
void run_corrupt(char **operand);
void run_group(char **operand);
void run_vocabulary(char **data);
void run_info(char **operand);
void run_list(char **operand);
void run_classes(char **operand);
void run_cat(char **operand);
void run_sheet(char **operand);
void run_views(char **operand);

/* require_output() returns the path of -o, or ends with misuse if that is
 * NULL. */
const char *require_output(const char *output, const char *what);

/* refuse_overwriting() ends the process if writing an index would overwrite a
 * file that is no index. */
void refuse_overwriting(const char *index);

/* A tar that is being written. */
struct tar {
    const char *path;
    int quality;
    struct data_pack *pack;
    struct data_bytes jpeg;
    struct progress progress;
    size_t done;
};

/* tar_start() begins a tar of about `total` images. */
void tar_start(struct tar *tar, const char *path, long quality, size_t total);

/* tar_add() and tar_add_jpeg() add a file, or pixels as one. */
void tar_add(struct tar *tar, const char *name, const void *bytes, size_t len);
void tar_add_jpeg(struct tar *tar, const char *name, const uint8_t *pixel,
                  size_t width, size_t height, size_t channels);

/* tar_finish() completes the tar; tar_give_up() removes it and dies. */
void tar_finish(struct tar *tar);
_Noreturn void tar_give_up(struct tar *tar, const char *why);

#endif
