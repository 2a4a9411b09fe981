#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "nn/safetensors.h"
#include "t.h"
#include "util/file.h"
#include "util/mem.h"

static char folder[256];

static const float weight[2][3] = {{1, -2, 3}, {0.5f, 1e-30f, 7}};
static const int64_t steps[1] = {-1234567890123};
static const uint8_t mask[5] = {1, 0, 255, 3, 4};

static void
fill(struct nn_array a[4])
{
    nn_array_init(a, "mask", "U8", 1, (size_t[]){5}, mask);
    nn_array_init(a + 1, "layer.weight", "F32", 2, (size_t[]){2, 3}, weight);
    nn_array_init(a + 2, "steps", "I64", 0, NULL, steps);
    nn_array_init(a + 3, "none", "F32", 2, (size_t[]){0, 9}, NULL);
}

static char *
write_example(void)
{
    struct nn_array *a = mem_array(4, sizeof *a);
    json_t *metadata = json_pack("{s:s}", "format", "pt");
    char *path = mem_format("%s/a.safetensors", folder);
    struct err err;

    fill(a);
    T(!nn_arrays_write(path, a, 4, metadata, &err), "writes");
    json_decref(metadata);
    nn_arrays_free(a, 4);
    return path;
}

static void
what_is_written_is_read(const char *path)
{
    struct nn_array *a;
    json_t *metadata;
    struct err err;
    size_t n;
    const struct nn_array *w;

    if (nn_arrays_read(path, &a, &n, &metadata, &err)) {
        T(0, "reads: %s", err.msg);
        return;
    }
    T(n == 4 && !strcmp(a[0].name, "mask") && !strcmp(a[3].name, "none"),
      "the order of the header is preserved");
    w = nn_arrays_find(a, n, "layer.weight");
    T(w && w->rank == 2 && w->shape[0] == 2 && w->shape[1] == 3 &&
          !memcmp(w->data, weight, sizeof weight),
      "a matrix survives");
    T(a[2].rank == 0 && a[2].count == 1 && !memcmp(a[2].data, steps, 8),
      "a scalar survives");
    T(a[3].count == 0 && a[3].shape[1] == 9, "an empty tensor survives");
    T(!nn_arrays_find(a, n, "layer"), "no such name: NULL");
    T(!strcmp(json_string_value(json_object_get(metadata, "format")), "pt"),
      "metadata survives");
    json_decref(metadata);
    nn_arrays_free(a, n);
}

/* Whether header and len bytes of data are accepted. */
static int
takes(const char *header, size_t data_len)
{
    size_t len = strlen(header), n;
    uint8_t *bytes = mem_array(8 + len + data_len, 1);
    struct nn_array *a;
    struct err err;
    int rc;

    bytes[0] = (uint8_t)len;
    bytes[1] = (uint8_t)(len >> 8);
    memcpy(bytes + 8, header, len);
    rc = nn_arrays_parse(bytes, 8 + len + data_len, "test", &a, &n, NULL, &err);
    if (!rc)
        nn_arrays_free(a, n);
    free(bytes);
    return !rc;
}

#define ENTRY(dtype, shape, begin, end)                                      \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" #begin \
    "," #end "]}"

static void
bad_headers_are_refused(void)
{
    T(takes("{}", 0), "an empty file is a file");
    T(takes("{\"a\":" ENTRY("F32", "[2]", 0, 8) "}", 8),
      "a good one is accepted");
    T(!takes("{}", 1), "data that no tensor names");
    T(!takes("[]", 0) && !takes("{", 0) && !takes("", 0), "no JSON object");
    T(!takes("{\"a\":" ENTRY("F31", "[2]", 0, 8) "}", 8), "unknown dtype");
    T(!takes("{\"a\":" ENTRY("F32", "[3]", 0, 8) "}", 8),
      "shape against range");
    T(!takes("{\"a\":" ENTRY("F32", "[-2]", 0, 8) "}", 8), "negative shape");
    T(!takes("{\"a\":" ENTRY("F32", "[2.0]", 0, 8) "}", 8), "fractional shape");
    T(!takes("{\"a\":" ENTRY("F32", "[4611686018427387905,4]", 0, 16) "}", 16),
      "a product that wraps around to the right size");
    T(!takes("{\"a\":" ENTRY("F32", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4),
      "more dimensions than foil supports");
    T(!takes("{\"a\":" ENTRY("F32", "[2]", 4, 12) "}", 12), "a gap in front");
    T(!takes("{\"a\":" ENTRY("F32", "[2]", 0, 8) ",\"b\":" ENTRY("F32", "[2]",
                                                                 4, 12) "}",
             12),
      "overlap");
    T(!takes("{\"a\":" ENTRY("F32", "[2]", 8, 0) "}", 8), "a backward range");
    T(!takes("{\"a\":" ENTRY("F32", "[2]", 0, 8) ",\"a\":" ENTRY("F32", "[2]",
                                                                 8, 16) "}",
             16),
      "a name twice");
    T(!takes("{\"a\":[]}", 0) && !takes("{\"a\":{}}", 0), "no fields");
    T(!takes("{\"__metadata__\":{\"x\":1}}", 0) &&
          !takes("{\"__metadata__\":[]}", 0),
      "metadata that is not strings");
}

static void
cut_files_are_refused(const char *path)
{
    size_t len, n, taken = 0;
    struct nn_array *a;
    struct err err;
    uint8_t *bytes = file_read(path, 1 << 20, &len, &err);

    for (size_t cut = 0; cut < len; cut++)
        if (!nn_arrays_parse(bytes, cut, "cut", &a, &n, NULL, &err)) {
            nn_arrays_free(a, n);
            taken++;
        }
    T(!taken, "a file cut short anywhere is refused");
    memset(bytes, 0xff, 8);
    T(nn_arrays_parse(bytes, len, "cut", &a, &n, NULL, &err) < 0,
      "a header of 2^64 bytes is refused");
    free(bytes);
    T(nn_arrays_read("/nonexistent", &a, &n, NULL, &err) < 0 &&
          strstr(err.msg, "'/nonexistent'"),
      "a missing file is named");
}

/* The format by its description, in Python, by hand. */
static const char *const script =
    "import json, struct, sys\n"
    "import numpy as np\n"
    "raw = open(sys.argv[1], 'rb').read()\n"
    "n, = struct.unpack('<Q', raw[:8])\n"
    "head = json.loads(raw[8:8 + n]); data = raw[8 + n:]\n"
    "assert n % 8 == 0 and head['__metadata__'] == {'format': 'pt'}\n"
    "def get(k, t):\n"
    "    a, b = head[k]['data_offsets']\n"
    "    assert a % np.dtype(t).itemsize == 0\n"
    "    return np.frombuffer(data[a:b], t).reshape(head[k]['shape'])\n"
    "w = np.array([[1, -2, 3], [.5, 1e-30, 7]], '<f4')\n"
    "assert (get('layer.weight', '<f4') == w).all()\n"
    "assert get('steps', '<i8') == -1234567890123\n"
    "assert get('mask', 'u1').tolist() == [1, 0, 255, 3, 4]\n"
    "h = json.dumps({'w': {'dtype': 'F32', 'shape': [2, 3],\n"
    "    'data_offsets': [0, 24]}}).encode()\n"
    "open(sys.argv[1] + '.py', 'wb').write(\n"
    "    struct.pack('<Q', len(h)) + h + w.tobytes())\n";

static void
python_agrees(const char *path)
{
    char *program = mem_format("%s/read.py", folder), *command, *theirs;
    struct nn_array *a = NULL;
    struct err err;
    size_t n = 0;

    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null")) {
        T_SKIP("python reads it", "no python3-numpy");
        free(program);
        return;
    }
    T(!file_write(program, script, strlen(script), &err), "script written");
    command = mem_format("/usr/bin/python3 %s %s", program, path);
    T(!system(command), "python reads foil's file");
    theirs = mem_format("%s.py", path);
    T(!nn_arrays_read(theirs, &a, &n, NULL, &err) && n == 1 &&
          !memcmp(a[0].data, weight, sizeof weight),
      "foil reads python's file");
    nn_arrays_free(a, n);
    free(theirs);
    free(command);
    free(program);
}

static void
a_full_disk_shows(void)
{
    struct nn_array *a = mem_array(4, sizeof *a);
    struct err err;

    fill(a);
    T(nn_arrays_write("/dev/full", a, 4, NULL, &err) < 0 &&
          strstr(err.msg, "No space"),
      "a full disk shows");
    nn_arrays_free(a, 4);
}

int
main(void)
{
    struct err err;
    char *path;

    child_folder(folder);
    path = write_example();
    what_is_written_is_read(path);
    bad_headers_are_refused();
    cut_files_are_refused(path);
    python_agrees(path);
    a_full_disk_shows();
    free(path);
    file_remove(folder, &err);
    return t_done();
}
