/* SPDX-License-Identifier: MIT
 *
 * Converts members of a plan's tensor map to enums of the driver.
 */
#ifndef PLAN_TENSOR_MAP_H
#define PLAN_TENSOR_MAP_H

#include <cuda.h>

#include "expr/dtype.h"

CUtensorMapDataType tensor_map_type(enum dtype dtype);
CUtensorMapSwizzle tensor_map_swizzle(uint32_t bytes);
CUtensorMapL2promotion tensor_map_promotion(uint32_t bytes);

#endif
