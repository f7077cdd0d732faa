/* SPDX-License-Identifier: MIT
 *
 * A plan's tensor map as the driver's enums.
 */
#ifndef PLAN_TENSOR_MAP_H
#define PLAN_TENSOR_MAP_H

#include <cuda.h>

#include "expr/dtype.h"

CUtensorMapDataType tensor_map_type(enum dtype dtype);
CUtensorMapSwizzle tensor_map_swizzle(uint32_t bytes);
CUtensorMapL2promotion tensor_map_promotion(uint32_t bytes);

#endif
