#include <stdlib.h>
#include <string.h>

#include "nn/model.h"
#include "nn/safetensors.h"
#include "util/file.h"
#include "util/mem.h"

/* Files of an image encoder, and of a text encoder, which has its head in the
 * same file. */
static const struct files {
    const char *model, *head, *optim;
} image_files = {"model.safetensors", "head.safetensors", "optim.safetensors"},
  text_files = {"text.safetensors", NULL, "text-optim.safetensors"};
static const char head[] = "head.", mean_name[] = ".running_mean";
static const char tracked_name[] = ".num_batches_tracked";

/* The arrays of a file; taken[i] is 1 if array i was used. */
struct list {
    char *path;
    struct nn_array *array;
    char *taken;
    size_t n, room;
};

static void
list_release(struct list *list)
{
    nn_arrays_free(list->array, list->n);
    mem_free(list->taken, list->path);
}

static void
list_add(struct list *list, const char *name, const char *dtype, size_t rank,
         const size_t *shape, const void *data)
{
    mem_grow(&list->array, &list->room, list->n + 1, sizeof *list->array);
    nn_array_init(list->array + list->n++, name, dtype, rank, shape, data);
}

/* "pt" marks PyTorch's names for readers in Python. */
static int
list_write(const struct list *list, struct err *err)
{
    json_t *metadata = json_pack("{s:s}", "format", "pt");
    int rc = nn_arrays_write(list->path, list->array, list->n, metadata, err);

    json_decref(metadata);
    return rc;
}

static int
list_read(struct list *list, struct err *err)
{
    if (nn_arrays_read(list->path, &list->array, &list->n, NULL, err))
        return -1;
    list->taken = mem_array(list->n, 1);
    return 0;
}

/* Finds an array and marks it as used; NULL if it is missing. */
static const struct nn_array *
list_take(struct list *list, const char *name)
{
    const struct nn_array *a = nn_arrays_find(list->array, list->n, name);

    if (a)
        list->taken[a - list->array] = 1;
    return a;
}

static int
list_all_taken(const struct list *list, struct err *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->taken[i])
            return err_set(err, "'%s': tensor '%s' is one too many", list->path,
                           list->array[i].name);
    return 0;
}

/* Checks the tensor's array and copies it to `data`. */
static int
take_tensor(struct list *list, const char *name, const struct nn_tensor *t,
            float *data, struct err *err)
{
    const struct nn_array *a = nn_arrays_need(
        list->array, list->n, list->path, name, "F32", t->rank, t->shape, err);

    if (!a)
        return -1;
    list->taken[a - list->array] = 1;
    memcpy(data, a->data, a->bytes);
    return 0;
}

static const struct files *
files_of(int texts)
{
    return texts ? &text_files : &image_files;
}

static int
is_head(const struct nn_weights *blocks, const struct nn_tensor *t)
{
    return files_of(blocks->texts)->head &&
           !strncmp(t->name, head, strlen(head));
}

static float *
place_of_tensor(const struct nn_weights *blocks, const struct nn_tensor *t)
{
    return (t->statistic ? blocks->statistics : blocks->params) + t->offset;
}

/* "bn1.num_batches_tracked" for "bn1.running_mean"; NULL for other names. */
static char *
name_of_count(const struct nn_tensor *t)
{
    size_t len = strlen(t->name), tail = strlen(mean_name);

    if (len < tail || strcmp(t->name + len - tail, mean_name))
        return NULL;
    return mem_format("%.*s%s", (int)(len - tail), t->name, tracked_name);
}

/* Backbone or head; a head without tensors has no file. */
static int
save_part(const char *folder, const char *file, const struct nn_weights *blocks,
          int heads, long steps, struct err *err)
{
    const int64_t batches = steps;
    const struct nn_tensor *t = blocks->tensor;
    struct list list = {.path = mem_format("%s/%s", folder, file)};
    int rc = 0;

    for (size_t i = 0; i < blocks->n; i++) {
        char *count = name_of_count(t + i);

        if (is_head(blocks, t + i) == heads) {
            // torchvision's order: the count follows the two statistics
            list_add(&list, t[i].name, "F32", t[i].rank, t[i].shape,
                     place_of_tensor(blocks, t + i));
            if (count)
                list_add(&list, count, "I64", 0, NULL, &batches);
        }
        free(count);
    }
    if (!heads || list.n)
        rc = list_write(&list, err);
    list_release(&list);
    return rc;
}

static int
load_part(const char *folder, const char *file, const struct nn_weights *blocks,
          int heads, struct err *err)
{
    const struct nn_tensor *t = blocks->tensor;
    struct list list = {.path = mem_format("%s/%s", folder, file)};
    int rc = 0;

    if (!heads || file_exists(list.path))
        rc = list_read(&list, err);
    for (size_t i = 0; i < blocks->n && !rc; i++) {
        char *count = name_of_count(t + i);

        if (is_head(blocks, t + i) == heads) {
            rc = take_tensor(&list, t[i].name, t + i,
                             place_of_tensor(blocks, t + i), err);
            if (count)
                list_take(&list, count);
        }
        free(count);
    }
    if (!rc)
        rc = list_all_taken(&list, err);
    list_release(&list);
    return rc;
}

struct nn_weights
nn_net_weights(struct nn_net *net)
{
    struct nn_weights blocks = {.texts = nn_net_texts(net)};
    size_t count;

    blocks.tensor = nn_net_tensors(net, &blocks.n);
    blocks.params = nn_net_params(net, &count);
    blocks.statistics = nn_net_statistics(net, &count);
    return blocks;
}

int
nn_weights_save(const char *folder, const struct nn_weights *blocks, long steps,
                struct err *err)
{
    const struct files *files = files_of(blocks->texts);

    if (save_part(folder, files->model, blocks, 0, steps, err))
        return -1;
    return files->head ? save_part(folder, files->head, blocks, 1, steps, err)
                       : 0;
}

int
nn_weights_load(const char *folder, const struct nn_weights *blocks,
                struct err *err)
{
    const struct files *files = files_of(blocks->texts);

    if (load_part(folder, files->model, blocks, 0, err))
        return -1;
    return files->head ? load_part(folder, files->head, blocks, 1, err) : 0;
}

/* The file of an optimiser's state; the caller frees it. */
static char *
optim_path(const char *folder, const struct nn_net *net)
{
    return mem_format("%s/%s", folder, files_of(nn_net_texts(net))->optim);
}

int
nn_optim_save(const char *folder, const struct nn_net *net,
              struct nn_optim *optim, struct err *err)
{
    const struct nn_moments m = nn_optim_moments(optim);
    const int64_t steps = *m.steps, pending = m.pending ? *m.pending : 0;
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(net, &n);
    struct list list = {.path = optim_path(folder, net)};
    int rc;

    list_add(&list, "steps", "I64", 0, NULL, &steps);
    if (m.pending)
        list_add(&list, "pending", "I64", 0, NULL, &pending);
    for (size_t k = 0; k < m.n; k++)
        for (size_t i = 0; i < n; i++)
            if (!t[i].statistic)
                list_add(&list, mem_temp("%s.%s", m.name[k], t[i].name), "F32",
                         t[i].rank, t[i].shape, m.block[k] + t[i].offset);
    rc = list_write(&list, err);
    list_release(&list);
    return rc;
}

/* A count: a scalar of I64, at least 0. */
static int
take_count(struct list *list, const char *name, long *count, struct err *err)
{
    const struct nn_array *a = list_take(list, name);
    int64_t value;

    if (!a || strcmp(a->dtype, "I64") || a->count != 1)
        return err_set(err, "'%s': no tensor '%s', one I64", list->path, name);
    memcpy(&value, a->data, sizeof value);
    if (value < 0)
        return err_set(err, "'%s': %s is %jd", list->path, name,
                       (intmax_t)value);
    *count = (long)value;
    return 0;
}

int
nn_optim_load(const char *folder, const struct nn_net *net,
              struct nn_optim *optim, struct err *err)
{
    const struct nn_moments m = nn_optim_moments(optim);
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(net, &n);
    struct list list = {.path = optim_path(folder, net)};
    int rc = list_read(&list, err);

    if (!rc)
        rc = take_count(&list, "steps", m.steps, err);
    if (!rc && m.pending)
        rc = take_count(&list, "pending", m.pending, err);
    for (size_t k = 0; k < m.n; k++)
        for (size_t i = 0; i < n && !rc; i++)
            if (!t[i].statistic)
                rc = take_tensor(&list, mem_temp("%s.%s", m.name[k], t[i].name),
                                 t + i, m.block[k] + t[i].offset, err);
    if (!rc)
        rc = list_all_taken(&list, err);
    list_release(&list);
    return rc;
}
