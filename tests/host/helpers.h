/* SPDX-License-Identifier: MIT
 *
 * The helper kernels as C++ (helper_kernels.h, made by helper_kernels.py), and functions that only
 * they use.
 */
#ifndef HOST_HELPERS_H
#define HOST_HELPERS_H

#include "ptx.h"

static float cospif(float x)
{
	return (float)cos(M_PI * x);
}

static unsigned long long atomicAdd(unsigned long long *at, unsigned long long value)
{
	const unsigned long long before = *at;

	*at += value;
	return before;
}

static void atomicMax(unsigned long long *at, unsigned long long value)
{
	*at = std::max(*at, value);
}

static void atomicMin(unsigned long long *at, unsigned long long value)
{
	*at = std::min(*at, value);
}

#include "helper_kernels.h"

#endif
