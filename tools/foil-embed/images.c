#include "data/set.h"
#include "util/digest.h"
#include "util/opt.h"

#include "images.h"

void
embed_images_open(struct embed_images *images,
                  const struct embed_config *config)
{
    struct err err;

    *images = (struct embed_images){.random = config->recipe != NULL,
                                    .max_pixels = config->max_pixels};
    if (images->random &&
        data_recipe_find(config->recipe, &images->recipe, &err))
        opt_misuse("%s", err.msg);
    images->set = data_open_or_die(config->path, config->skip);
    images->seed = data_seed(images->set, config->seed);
}

void
embed_images_close(struct embed_images *images)
{
    data_scratch_free(images->scratch);
    data_image_release(&images->image);
    data_jpeg_free(images->decoder);
    data_bytes_release(&images->bytes);
    data_close(images->set);
}

int
embed_images_view(struct embed_images *images, size_t id, size_t size,
                  uint64_t view, uint8_t *out, struct err *err)
{
    const int rc = data_read(images->set, id, &images->bytes, err);
    struct err why;

    if (rc)
        return rc;
    if (data_codec_decode(&images->decoder, images->bytes.data,
                          images->bytes.len, images->max_pixels, DATA_REFUSE,
                          &images->image, &why))
        return err_set(err, "sample %zu, '%s': %s", id,
                       data_name(images->set, id), why.msg);
    if (images->random)
        data_view(&images->recipe, &images->image, images->seed, id, 0, view,
                  &images->scratch, out);
    else
        data_plain(size, &images->image, &images->scratch, out);
    return 0;
}
