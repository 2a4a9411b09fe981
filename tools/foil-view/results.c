#include "results.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/file.h"
#include "util/mem.h"

enum { RESULTS = 500 };

static void
add_result(struct results *results, const char *line, struct hub *hub)
{
    json_t *result = json_loads(line, 0, NULL);

    if (!result)
        return;
    json_array_append_new(results->list, result);
    if (json_array_size(results->list) > RESULTS)
        json_array_remove(results->list, 0);
    if (hub)
        hub_publish(hub, "result", json_incref(result));
}

void
results_read(struct results *results, const char *run, struct hub *hub)
{
    char *path = mem_format("%s/results.jsonl", run), *line = NULL;
    struct err ignored;
    FILE *file = file_open(path, 0, &ignored);
    size_t room = 0;
    ssize_t n;

    if (!results->list)
        results->list = json_array();
    if (file && !fseek(file, 0, SEEK_END) && ftell(file) < results->offset) {
        results->offset = 0;
        json_array_clear(results->list);
    }
    if (file && !fseek(file, results->offset, SEEK_SET))
        while ((n = getline(&line, &room, file)) > 0 && line[n - 1] == '\n') {
            add_result(results, line, hub);
            results->offset += n;
        }
    if (file)
        fclose(file);
    free(line);
    free(path);
}

json_t *
results_show(const struct results *results)
{
    return results->list ? json_incref(results->list) : json_array();
}

void
results_release(struct results *results)
{
    json_decref(results->list);
    *results = (struct results){0};
}
