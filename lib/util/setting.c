#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/setting.h"

enum { MOST_BYTES = 1 << 20 }; // of a file

static struct setting *
find_setting(const struct settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->n; i++)
        if (!strcmp(settings->item[i].name, name))
            return &settings->item[i];
    return NULL;
}

static struct setting *
add_setting(struct settings *settings)
{
    mem_grow(&settings->item, &settings->room, settings->n + 1,
             sizeof *settings->item);
    return &settings->item[settings->n++];
}

const char *
setting_get(const struct settings *settings, const char *name)
{
    const struct setting *found = find_setting(settings, name);

    return found ? found->value : NULL;
}

void
setting_set(struct settings *settings, const char *name, const char *value)
{
    struct setting *found = find_setting(settings, name);
    char *copy = mem_text(value); // first, as value may be the old one

    if (found)
        free(found->value);
    else
        *(found = add_setting(settings)) =
            (struct setting){.name = mem_text(name)};
    found->value = copy;
}

/* Replaces the escapes \\ and \n. */
static void
unescape_value(char *value)
{
    char *to = value;

    for (const char *at = value; *at; at++)
        if (at[0] == '\\' && (at[1] == '\\' || at[1] == 'n'))
            *to++ = *++at == 'n' ? '\n' : '\\';
        else
            *to++ = *at;
    *to = 0;
}

static void
read_line(struct settings *settings, char *line, int number)
{
    size_t n;

    line += strspn(line, " \t");
    n = strlen(line);
    if (n && line[n - 1] == '\r')
        line[n - 1] = 0;
    if (!*line || *line == '#')
        return;
    n = strcspn(line, " \t");
    *add_setting(settings) = (struct setting){
        mem_format("%.*s", (int)n, line),
        mem_text(line + n + strspn(line + n, " \t")),
        number,
    };
    unescape_value(settings->item[settings->n - 1].value);
}

int
setting_read(struct settings *settings, const char *path, struct err *err)
{
    size_t len;
    char *text = file_read(path, MOST_BYTES, &len, err), *next;
    int number = 0;

    for (char *line = text; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        read_line(settings, line, ++number);
    }
    free(text);
    return text ? 0 : -1;
}

char *
setting_text(const struct settings *settings)
{
    char *text;
    size_t n;
    FILE *to = open_memstream(&text, &n);

    REQUIRE(to);
    for (size_t i = 0; i < settings->n; i++) {
        fprintf(to, "%s ", settings->item[i].name);
        for (const char *at = settings->item[i].value; *at; at++) {
            if (*at == '\\' || *at == '\n')
                putc('\\', to);
            putc(*at == '\n' ? 'n' : *at, to);
        }
        putc('\n', to);
    }
    REQUIRE(!fclose(to));
    return text;
}

void
setting_release(struct settings *settings)
{
    for (size_t i = 0; i < settings->n; i++) {
        mem_free(settings->item[i].name, settings->item[i].value);
    }
    free(settings->item);
    *settings = (struct settings){0};
}
