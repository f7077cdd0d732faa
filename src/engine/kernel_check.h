/* SPDX-License-Identifier: MIT
 *
 * Checks that launches pass the arguments that kernels expect, before they run on a GPU.
 */
#ifndef ENGINE_KERNEL_CHECK_H
#define ENGINE_KERNEL_CHECK_H

#include "compile/compiler.h"
#include "family/family.h"

/* Compares a launch with the kernel's parameters, unless the cubin does not describe them. The
 * launch's entry must be the name in the code. Buffers and tensor maps are for messages and may be
 * NULL. */
enum status kernel_arguments_check(const struct compile_result *kernel,
	const struct plan_launch *launch, const struct plan_buffer *buffers,
	const struct plan_tensor_map *tensor_maps, struct error *err);

/* Compares declarations in the sources (source/kernel_source.h) with the launches, to find what the
 * compiler cannot see: an output passed as a pointer to const, elements of another size, too few
 * dimensions. */
enum status kernel_sources_check(
	const struct family *family, const struct plan *plan, struct error *err);

#endif
