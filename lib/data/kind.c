#include <string.h>
#include <strings.h>

#include "kind.h"

static const struct {
    const char *suffix;
    enum data_kind kind;
} kinds[] = {
    {".jpg", DATA_KIND_IMAGE},    {".jpeg", DATA_KIND_IMAGE},
    {".txt", DATA_KIND_CAPTION},  {".cls", DATA_KIND_CLASS},
    {".json", DATA_KIND_JSON},    {".png", DATA_KIND_IMAGE},
    {".webp", DATA_KIND_IMAGE},   {".jfif", DATA_KIND_IMAGE},
    {".jpe", DATA_KIND_IMAGE},    {".gif", DATA_KIND_PICTURE},
    {".bmp", DATA_KIND_PICTURE},  {".tif", DATA_KIND_PICTURE},
    {".tiff", DATA_KIND_PICTURE}, {".jp2", DATA_KIND_PICTURE},
    {".jxl", DATA_KIND_PICTURE},  {".heic", DATA_KIND_PICTURE},
    {".avif", DATA_KIND_PICTURE}, {".ppm", DATA_KIND_PICTURE},
    {".pgm", DATA_KIND_PICTURE},
};

size_t
data_kind_folders(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

int
data_kind_ends(const char *path, const char *suffix)
{
    const char *dot = strrchr(path, '.');

    return dot && !strcasecmp(dot, suffix);
}

enum data_kind
data_kind_of(const char *path)
{
    if (path[data_kind_folders(path)] == '.')
        return DATA_KIND_HIDDEN;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (data_kind_ends(path, kinds[i].suffix))
            return kinds[i].kind;
    return DATA_KIND_OTHER;
}
