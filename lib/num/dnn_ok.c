#include "util/err.h"

#include "dnn_op.h"

void
num_dnn_ok(dnnl_status_t status)
{
    REQUIRE(status == dnnl_success);
}
