#include <stdlib.h>
#include <string.h>

#include "nn/export.h"
#include "nn/safetensors.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

#include "encoder.h"

static void
describe_input(const struct nn_model *model, json_t *about)
{
    if (nn_net_kind(model->net) == NN_TOKENS) {
        json_object_set_new(about, "tokens",
                            json_string("start, those of the text, end; cut to "
                                        "the context, the end kept"));
        return;
    }
    json_object_set_new(about, "resize",
                        json_string("short side, bilinear, antialiased; centre "
                                    "crop"));
    json_object_set_new(about, "pixels",
                        json_string("(RGB / 255 - mean) / deviation"));
}

/* The metadata of a file: strings. */
static json_t *
describe_model(const struct nn_model *model)
{
    const struct nn_spec *s = &model->spec;
    json_t *about = json_pack("{s:s s:s s:s s:s s:s}", "format", "pt", "arch",
                              s->arch, "stem", s->stem, "norm", s->norm, "foil",
                              FOIL_VERSION),
           *encoder = json_object(), *value;
    const char *key;

    json_object_update_new(encoder, nn_spec_put(s));
    json_object_set_new(encoder, "features",
                        json_integer((json_int_t)nn_net_features(model->net)));
    json_object_set(encoder, "checkpoint",
                    json_object_get(model->about, "manifest"));
    json_object_set(encoder, "average",
                    json_object_get(model->about, "average"));
    json_object_foreach(encoder, key, value)
    {
        char *text = json_is_string(value)
                         ? mem_text(json_string_value(value))
                         : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                                 JSON_REAL_PRECISION(9));

        if (text && !json_object_get(about, key) && !json_is_null(value))
            json_object_set_new(about, key, json_string(text));
        free(text);
    }
    json_decref(encoder);
    json_object_del(about, "head"); // it is not in the file
    describe_input(model, about);
    return about;
}

int
nn_export_safetensors(const char *path, const struct nn_model *model,
                      struct err *err)
{
    struct file_draft draft = {0};
    struct err none;
    const int bare = nn_encoder_find(model->spec.arch, &none)->bare;
    struct nn_array *array;
    json_t *about;
    size_t tensors, n = 0;
    const struct nn_tensor *t = nn_net_tensors(model->net, &tensors);
    int rc;

    if (file_draft_open(&draft, path, err))
        return -1;
    about = describe_model(model);
    // the tensors of the net without its head, as arrays
    array = mem_array(tensors + 1, sizeof *array);
    for (size_t i = 0; i < tensors; i++) {
        const float *block = t[i].statistic
                                 ? nn_net_statistics(model->net, NULL)
                                 : nn_net_params(model->net, NULL);

        if (strncmp(t[i].name, "head.", 5) &&
            (!bare || strcmp(t[i].name, "text_projection")))
            nn_array_init(&array[n++], t[i].name, "F32", t[i].rank, t[i].shape,
                          block + t[i].offset);
    }
    rc = nn_arrays_put(draft.file, path, array, n, about, err);
    if (!rc)
        rc = file_draft_keep(&draft, err);
    file_draft_drop(&draft);
    json_decref(about);
    nn_arrays_free(array, n);
    return rc;
}

int
nn_export_onnx(const char *path, const struct nn_model *model, struct err *err)
{
    size_t n;
    void *bytes = nn_net_onnx(model->net, &n, err);
    int rc = bytes ? file_write(path, bytes, n, err) : -1;

    free(bytes);
    return rc;
}
