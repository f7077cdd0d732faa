/* SPDX-License-Identifier: MIT
 *
 * Checks that a launch passes the arguments that a compiled kernel expects, before a GPU reads
 * arguments that were not passed.
 */
#ifndef ENGINE_KERNEL_CHECK_H
#define ENGINE_KERNEL_CHECK_H

#include "compile/compiler.h"
#include "family/family.h"
#include "plan/plan.h"

/* The launch's entry is the kernel's name in the code. Messages name the buffers and tensor maps,
 * which may be NULL. An error lists the expected and the passed arguments. If the cubin does not
 * describe the kernel's parameters, nothing is checked. */
enum status kernel_arguments_check(const struct compile_result *kernel,
	const struct plan_launch *launch, const struct plan_buffer *buffers,
	const struct plan_tensor_map *tensor_maps, struct error *err);

/* Compares the kernels' declarations in the sources (source/kernel_source.h) with the launches. It
 * finds mistakes that the compiler cannot see: an output that is passed as a pointer to const, a
 * buffer whose elements have another size, a grid or block with fewer dimensions than the source
 * reads. Errors: STATUS_BAD_INPUT. */
enum status kernel_sources_check(
	const struct family *family, const struct plan *plan, struct error *err);

#endif
