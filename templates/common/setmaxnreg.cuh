// setmaxnreg (sm_90a): a warp group changes how many registers its threads have; what one group
// gives up another can take. COUNT is a multiple of 8 from 24 to 256. Needs __launch_bounds__.
#include "common/types.cuh"
#pragma once
template <int COUNT> __device__ __forceinline__ void registers_raise()
{
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT> __device__ __forceinline__ void registers_lower()
{
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
