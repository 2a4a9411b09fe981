#include "select/strategy.h"

const struct param select_params[] = {SELECT_PARAMS, {0}};
