/* SPDX-License-Identifier: MIT
 *
 * The helper kernels themselves (templates/common/helpers.cu, compiled as C++), run by one thread, which is
 * correct for any grid and block. The anchor is missing, because only its time counts.
 */
#include "host/helpers.h"

#include <utility>

template <class... ARGUMENTS, size_t... INDEX>
static void call(void (*kernel)(ARGUMENTS...), void *const *params, std::index_sequence<INDEX...>)
{
	kernel(*(ARGUMENTS *)params[INDEX]...);
}

template <class... ARGUMENTS> static void call(void (*kernel)(ARGUMENTS...), void *const *params)
{
	call(kernel, params, std::index_sequence_for<ARGUMENTS...>());
}

/* params: pointers to the arguments, as in a launch. Returns false if no helper kernel has this name. */
extern "C" bool standin_run_helper(const char *name, void *const *params)
{
#define RUN(kernel)                                                                                \
	if (strcmp(name, #kernel) == 0)                                                            \
	return call(kernel, params), true
	if (host::fibers.empty()) {
		host::fibers.resize(1);
		host::residents.resize(1);
		host::residents[0].alive = 1; /* threads that must meet at a barrier */
	}
	threadIdx = blockIdx = {0, 0, 0};
	RUN(tt_fill);
	RUN(tt_offsets);
	RUN(tt_poison);
	RUN(tt_guard_check);
	RUN(tt_compare_begin);
	RUN(tt_compare);
	RUN(tt_magnitudes);
	RUN(tt_checksum);
	RUN(tt_cipher);
	return false;
}
