/* SPDX-License-Identifier: MIT
 *
 * Whether a launch gives a compiled kernel what it takes: found out from the cubin, before a GPU
 * reads arguments that were not given.
 */
#ifndef ENGINE_KERNEL_CHECK_H
#define ENGINE_KERNEL_CHECK_H

#include "compile/compiler.h"
#include "family/family.h"
#include "plan/plan.h"

/* launch: by the kernel's name in the code. buffers, tensor_maps: whose names messages say; may be
 * NULL. An error has both lists; where the cubin does not say what the kernel takes, all is well.
 */
enum status kernel_arguments_check(const struct compile_result *kernel,
	const struct plan_launch *launch, const struct plan_buffer *buffers,
	const struct plan_tensor_map *tensor_maps, struct error *err);

/* What sources say of kernels (source/kernel_source.h) against what launches give them, which the
 * compiler does not see: an output for a pointer to const, a buffer of elements of another size,
 * a grid or block with fewer dimensions than the source reads. Errors: STATUS_BAD_INPUT. */
enum status kernel_sources_check(
	const struct family *family, const struct plan *plan, struct error *err);

#endif
