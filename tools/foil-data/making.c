#include "making.h"
#include "data.h"

void
making_start(struct making *making, const char *path, long quality,
             size_t total)
{
    struct err err;

    *making = (struct making){.path = wanted_output(path, "tar"),
                              .quality = (int)quality};
    making->pack = data_pack_open(path, &err);
    if (!making->pack)
        die("%s", err.msg);
    progress_start(&making->progress, "images", 0, (double)total);
}

_Noreturn void
making_give_up(struct making *making, const char *why)
{
    progress_clear(&making->progress);
    data_pack_drop(making->pack);
    die("%s", why);
}

void
making_add(struct making *making, const char *name, const void *bytes,
           size_t len)
{
    struct err err;

    if (data_pack_add(making->pack, name, bytes, len, &err))
        making_give_up(making, err.msg);
}

void
making_add_jpeg(struct making *making, const char *name, const uint8_t *pixel,
                size_t width, size_t height, size_t channels)
{
    struct err err;

    if (data_jpeg_encode(pixel, width, height, channels, making->quality,
                         &making->jpeg, &err))
        making_give_up(making, err.msg);
    making_add(making, name, making->jpeg.data, making->jpeg.len);
    making->done++;
    progress_show(&making->progress, (double)making->done, "");
}

void
making_finish(struct making *making)
{
    struct err err;

    progress_clear(&making->progress);
    if (data_pack_keep(making->pack, &err))
        die("%s", err.msg);
    say("'%s': %zu image%s", making->path, making->done, plural(making->done));
    data_bytes_release(&making->jpeg);
}
