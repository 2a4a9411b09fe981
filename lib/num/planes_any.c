#define ISA num_planes_any
#define LANES_WIDE 4
#include "planes_loops.h"
