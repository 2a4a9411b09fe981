#define ISA num_products_any
#define LANES_WIDE 4
#include "products_loops.h"
