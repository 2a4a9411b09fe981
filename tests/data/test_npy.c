#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "data/npy.h"
#include "t.h"
#include "util/file.h"

static struct err err;

static void
an_array_comes_back(enum dtype type, size_t rank, size_t n, size_t d)
{
    uint8_t data[1000];
    struct data_npy in = {type, rank, {n, d}, data}, out;
    size_t bytes = n * d * dtype_about(type)->bytes;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    T(!data_npy_write("a.npy", &in, &err), "written: %zux%zu", n, d);
    T(!data_npy_read("a.npy", &out, &err) && out.type == type &&
          out.rank == rank && out.shape[0] == n && out.shape[1] == d &&
          !memcmp(out.data, data, bytes),
      "read again");
    data_npy_release(&out);
}

/* Checks a header made by hand, before `bytes` of items. */
static int
judge(const char *dictionary, size_t bytes, struct data_npy *npy)
{
    uint8_t head[256] = "\x93NUMPY\1\0";
    size_t n = strlen(dictionary), place;

    head[8] = (uint8_t)n;
    memcpy(head + 10, dictionary, n);
    return data_npy_parse(head, 10 + n, 10 + n + bytes, npy, &place, &err);
}

static void
headers_are_judged(void)
{
    static const struct {
        const char *dictionary, *why;
        size_t bytes;
    } bad[] = {
        {"['descr']", "no dictionary", 8},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (4,), }", "items",
         8},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", "items",
         8},
        {"{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", "order",
         8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 2), }",
         "dimensions", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
         "dimensions", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "size",
         8},
        {"{'descr': '<f8', 'fortran_order': False, "
         "'shape': (999999999999999, 999999999999999), }",
         "too large", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "damaged",
         8},
        {"{'descr': '<f4', 'shape': (2,)}", "damaged", 8},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, "
         "'shape': (2,)}",
         "damaged", 8},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "damaged",
         8},
    };
    struct data_npy npy;

    T(!judge("{'shape': (2,), 'descr': '<f4','fortran_order':False}\n", 8,
             &npy) &&
          npy.shape[0] == 2,
      "keys in any order");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(judge(bad[i].dictionary, bad[i].bytes, &npy) == -1 &&
              strstr(err.msg, bad[i].why),
          "refused: %s", err.msg);
}

static void
files_are_judged(void)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    struct data_npy in = {DTYPE_F4, 2, {2, 3}, data}, out;
    size_t len, refused = 0;
    char *bytes;

    T(data_npy_read("none.npy", &out, &err) == -1 &&
          strstr(err.msg, "none.npy"),
      "missing");
    T(!file_write("b.npy", "hello, world", 12, &err) &&
          data_npy_read("b.npy", &out, &err) == -1,
      "%s", err.msg);
    T(!data_npy_write("c.npy", &in, &err), "a sound one");
    bytes = file_read("c.npy", 4096, &len, &err);
    T(bytes && len == 128 + 24, "the header is padded to 64");
    for (size_t n = 0; bytes && n < len; n++) {
        struct err why;

        refused += !file_write("d.npy", bytes, n, &why) &&
                   data_npy_read("d.npy", &out, &why) == -1;
    }
    T(refused == 128 + 24, "a cut anywhere is refused: %zu of 152", refused);
    free(bytes);
}

static void
numpy_agrees(void)
{
    double data[6] = {.5, -1, 2, 1e300, 4, -0.25};
    struct data_npy in = {DTYPE_F8, 2, {3, 2}, data}, out;

    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null")) {
        T_SKIP("NumPy reads and writes the same", "no python3-numpy");
        return;
    }
    T(!data_npy_write("e.npy", &in, &err), "written for NumPy");
    T(!system("/usr/bin/python3 -c 'import numpy as np; a = np.load(\"e.npy\")"
              "; assert a.shape == (3, 2) and a[1, 1] == 1e300;"
              "np.save(\"f.npy\", a.astype(\"i8\", casting=\"unsafe\")[:, 0])"
              "' 2>/dev/null"),
      "NumPy reads it");
    T(!data_npy_read("f.npy", &out, &err) && out.type == DTYPE_I8 &&
          out.rank == 1 && ((int64_t *)out.data)[2] == 4,
      "foil reads NumPy's");
    data_npy_release(&out);
}

int
main(void)
{
    char folder[256];

    child_scratch(folder);
    an_array_comes_back(DTYPE_F4, 2, 7, 3);
    an_array_comes_back(DTYPE_F8, 1, 9, 1);
    an_array_comes_back(DTYPE_I4, 1, 1, 1);
    an_array_comes_back(DTYPE_I8, 2, 2, 50);
    an_array_comes_back(DTYPE_F4, 2, 0, 5);
    headers_are_judged();
    files_are_judged();
    numpy_agrees();
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
