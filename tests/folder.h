#pragma once

/* A test in a folder of its own, and files of text there. */
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "util/file.h"

static struct err err;
static char folder[256];

static inline int
enter_folder(void)
{
    child_scratch(folder);
    return 0;
}

static inline int
leave_folder(void)
{
    struct err why;

    return chdir("/") || file_remove(folder, &why);
}

static inline void
put_text(const char *path, const char *text)
{
    REQUIRE(!file_write(path, text, strlen(text), &err));
}
