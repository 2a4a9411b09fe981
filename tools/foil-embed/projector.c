#include "projector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

/* A cell of a table: tabs and ends of lines become blanks. */
static void
write_cell(FILE *to, const char *text)
{
    for (; *text; text++)
        putc(strchr("\t\r\n", *text) ? ' ' : *text, to);
}

static void
write_vectors(FILE *to, const struct data_features *f,
              const struct data_set *set)
{
    (void)set;
    for (size_t i = 0; i < f->n && !ferror(to); i++)
        for (size_t k = 0; k < f->d; k++)
            fprintf(to, "%.6g%c", (double)f->x[i * f->d + k],
                    k + 1 < f->d ? '\t' : '\n');
}

static void
write_sources(FILE *to, const struct data_features *f,
              const struct data_set *set)
{
    fprintf(to, "id\tclass\tfile\n");
    for (size_t i = 0; i < f->n && !ferror(to); i++) {
        const int64_t label = f->labels ? f->labels[i] : -1;

        fprintf(to, "%" PRId64 "\t", f->ids[i]);
        write_cell(to, label < 0 ? "" : f->classes.name[label]);
        putc('\t', to);
        write_cell(to, data_name(set, (size_t)f->ids[i]));
        putc('\n', to);
    }
}

static void
write_names(FILE *to, const struct data_features *f, const struct data_set *set)
{
    (void)f;
    (void)set;
    fprintf(to, "embeddings {\n  tensor_name: \"features\"\n"
                "  tensor_path: \"tensors.tsv\"\n"
                "  metadata_path: \"metadata.tsv\"\n}\n");
}

void
embed_projector(const char *folder, const struct data_features *features,
                const struct data_set *set)
{
    static const struct {
        const char *name;
        void (*write)(FILE *to, const struct data_features *features,
                      const struct data_set *set);
    } files[] = {{"tensors.tsv", write_vectors},
                 {"metadata.tsv", write_sources},
                 {"projector_config.pbtxt", write_names}};
    struct err err;

    if (file_mkdir(folder, 0777, &err))
        die("%s", err.msg);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *path = mem_format("%s/%s", folder, files[i].name);
        struct file_draft draft = {0};

        if (file_draft_open(&draft, path, &err))
            die("%s", err.msg);
        files[i].write(draft.file, features, set);
        if (file_draft_keep(&draft, &err))
            die("%s", err.msg);
        file_draft_drop(&draft);
        free(path);
    }
}
