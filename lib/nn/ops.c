#include "operator.h"

#define ROW(row) &nn_op_##row,

const struct nn_operator *const nn_operators[] = {NN_OPERATORS(ROW)};
const size_t nn_operators_count = sizeof nn_operators / sizeof *nn_operators;
