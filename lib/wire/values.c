#include <string.h>

#include "values.h"

void
wire_values_write(struct wire_writer *w, const char *key,
                  const struct wire_metric *values, size_t n)
{
    wire_write_map(w, key, n);
    for (size_t i = 0; i < n; i++)
        wire_write_real(w, values[i].name, values[i].value);
}

/* One name and its number. */
static void
get_value(struct wire_reader *r, const msgpack_object_kv *kv,
          struct wire_metric *value)
{
    const size_t n = kv->key.via.str.size;

    if (n < 1 || n >= sizeof value->name || memchr(kv->key.via.str.ptr, 0, n)) {
        wire_read_fail(r, "a name of a number has %zu bytes", n);
        return;
    }
    memcpy(value->name, kv->key.via.str.ptr, n);
    value->name[n] = '\0';
    if (wire_object_real(&kv->val, &value->value))
        wire_read_fail(r, "'%s' is no finite number", value->name);
}

size_t
wire_values_read(struct wire_reader *r, const char *key,
                 struct wire_metric *values, size_t max)
{
    const struct wire_reader inner = wire_read_map(r, key);
    const msgpack_object_map *map = &inner.map->via.map;

    if (!r->rc && map->size > max)
        wire_read_fail(r, "more than %zu '%s'", max, key);
    for (size_t i = 0; !r->rc && i < map->size; i++)
        get_value(r, &map->ptr[i], &values[i]);
    return r->rc ? 0 : map->size;
}
