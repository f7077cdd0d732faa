/* SPDX-License-Identifier: MIT
 *
 * Converts a plan's tensor map to the driver's enums, for the measuring worker and bundles.
 */
#ifndef PLAN_TENSOR_MAP_H
#define PLAN_TENSOR_MAP_H

#include <cuda.h>

#include "expr/dtype.h"

CUtensorMapDataType tensor_map_type(enum dtype dtype);
CUtensorMapSwizzle tensor_map_swizzle(uint32_t bytes);
CUtensorMapL2promotion tensor_map_promotion(uint32_t bytes);

#endif
