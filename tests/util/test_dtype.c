#include <string.h>

#include "t.h"
#include "util/dtype.h"

int
main(void)
{
    int found = 0, sent = 0, bytes = 0;

    for (int d = 0; d < DTYPES; d++) {
        const struct dtype_about *a = dtype_about((enum dtype)d);

        found += dtype_by_safetensors(a->safetensors, strlen(a->safetensors)) ==
                 (enum dtype)d;
        sent += a->wire && dtype_by_wire(a->wire, 2) == (enum dtype)d;
        // the last digits of NumPy's name, and of ours, are the bytes
        bytes += !a->npy || (size_t)(a->npy[2] - '0') == a->bytes;
    }
    T(found == DTYPES, "each has a different name in safetensors");
    T(sent == 7 && bytes == DTYPES, "seven are sent");
    T(dtype_by_wire("i16", 3) == DTYPES && dtype_by_wire("", 0) == DTYPES &&
          dtype_by_wire("BOOL", 4) == DTYPES,
      "no others are");
    T(dtype_by_safetensors("BOOL", 4) == DTYPE_BOOL &&
          dtype_by_safetensors("BOO", 3) == DTYPES,
      "a name is the whole name");
    return t_done();
}
