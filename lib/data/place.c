#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"

#include "place.h"
#include "tar.h"
#include "tree.h"

enum { MAX_LIST = 1 << 30 };

struct place {
    char *root;
    struct data_tar *tar; // of a tar
    struct tree tree;     // of a folder
    char *list;           // of a list: its text, cut at tabs and line ends
    size_t list_bytes;
    char *list_path;
    struct tree_state list_state;
    size_t at; // how far tree or list are given out
};

/* Text has few control bytes; a tar has zeros in its first block. */
static int
is_text(const char *path, struct err *err)
{
    unsigned char start[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC), text = 1;
    ssize_t n;

    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    n = read(fd, start, sizeof start);
    close(fd);
    if (n < 0)
        return err_sys(err, "cannot read '%s'", path);
    if (n == 0)
        return err_set(err, "'%s' is empty", path);
    for (ssize_t i = 0; i < n; i++)
        text &= start[i] >= ' ' || (start[i] >= '\t' && start[i] <= '\r');
    return text;
}

static int
open_list(struct place *place, const char *path, struct err *err)
{
    char *copy = mem_text(path);

    place->root = mem_text(dirname(copy));
    free(copy);
    place->list_path = mem_text(path);
    place->list_state.time = data_tree_time(path);
    place->list = file_read(path, MAX_LIST, &place->list_bytes, err);
    if (!place->list)
        return -1;
    data_tree_text_state(place->list, place->list_bytes, &place->list_state);
    return 0;
}

static int
open_any(struct place *place, const char *path, struct err *err)
{
    struct stat st;
    int text;

    if (stat(path, &st))
        return err_sys(err, "cannot open '%s'", path);
    if (S_ISDIR(st.st_mode)) {
        place->root = mem_text(path);
        return data_tree_walk(&place->tree, path, err);
    }
    text = is_text(path, err);
    if (text < 0)
        return -1;
    if (text)
        return open_list(place, path, err);
    place->root = mem_text(path);
    place->tar = data_tar_open(path, err);
    return place->tar ? 0 : -1;
}

struct place *
data_place_open(const char *path, struct err *err)
{
    struct place *place = mem_array(1, sizeof *place);

    if (!open_any(place, path, err))
        return place;
    data_place_close(place);
    return NULL;
}

void
data_place_close(struct place *place)
{
    if (!place)
        return;
    data_tar_close(place->tar);
    data_tree_release(&place->tree);
    free(place->list);
    free(place->list_path);
    free(place->root);
    free(place);
}

/* Cut the text at the first of `ends`; return what lies behind, or NULL. */
static char *
cut(char *text, const char *ends)
{
    text += strcspn(text, ends);
    if (!*text)
        return NULL;
    *text = 0;
    return text + 1;
}

static int
next_line(struct place *place, struct place_item *item)
{
    while (place->at < place->list_bytes) {
        char *line = place->list + place->at, *label, *caption = NULL;
        size_t n = strcspn(line, "\n");

        place->at += n + 1;
        line[n] = 0;
        if (n && line[n - 1] == '\r')
            line[n - 1] = 0;
        label = cut(line, "\t");
        if (label)
            caption = cut(label, "\t");
        while (!strncmp(line, "./", 2))
            line += 2;
        if (!*line)
            continue;
        *item = (struct place_item){
            .name = line, .label = label, .caption = caption};
        return 1;
    }
    return 0;
}

int
data_place_next(struct place *place, struct place_item *item, struct err *err)
{
    struct data_member member;
    int got;

    if (place->list)
        return next_line(place, item);
    *item = (struct place_item){0};
    if (!place->tar) {
        const struct tree_entry *entry;

        if (place->at == place->tree.n)
            return 0;
        entry = &place->tree.entry[place->at++];
        item->name = place->tree.text + entry->name;
        item->bad = entry->why ? place->tree.text + entry->why : NULL;
        return 1;
    }
    got = data_tar_next(place->tar, &member, err);
    if (got > 0) {
        item->name = member.name;
        item->offset = member.offset;
        item->bytes = member.bytes;
    }
    return got;
}

int
data_place_read(struct place *place, const struct place_item *item,
                struct data_bytes *bytes, struct err *err)
{
    if (!place->tar) {
        char *path = data_layout_path(place->root, item->name);
        int rc = data_layout_read_file(path, bytes, err);

        free(path);
        return rc;
    }
    if (item->bytes > LAYOUT_MAX_BYTES)
        return err_set(err, "larger than %d bytes", LAYOUT_MAX_BYTES);
    return data_layout_read(data_tar_fd(place->tar), item->offset, item->bytes,
                            bytes, item->name, err);
}

double
data_place_share(const struct place *place)
{
    if (place->tar)
        return (double)data_tar_position(place->tar) /
               (double)data_tar_bytes(place->tar);
    return (double)place->at /
           (double)(place->list ? place->list_bytes + 1 : place->tree.n + 1);
}

const char *
data_place_list(const struct place *place, struct tree_state *state)
{
    *state = place->list_state;
    return place->list_path;
}

const struct tree *
data_place_tree(const struct place *place)
{
    return place->tree.folders ? &place->tree : NULL;
}

const char *
data_place_root(const struct place *place)
{
    return place->root;
}

enum layout_kind
data_place_kind(const struct place *place)
{
    return place->tar ? LAYOUT_TAR : LAYOUT_FOLDER;
}

uint64_t
data_place_bytes(const struct place *place)
{
    return place->tar ? data_tar_bytes(place->tar) : 0;
}
