/* SPDX-License-Identifier: MIT
 *
 * Which configurations are measured on a problem of gemm_chain: of the families that fuse the
 * model's best of different numbers of tiles and the family's default; for each of the two products
 * the same of the gemm families. Needs no GPU; says "family" and "configuration" as a tuned file.
 *
 *	{"problem": "m=...", "candidates": [{"family", "configuration"}, ...],
 *	 "steps": [{"problem": "M=...", "candidates": [...]}, {...}]}
 */
#ifndef VERSUS_CHAIN_CHOICE_H
#define VERSUS_CHAIN_CHOICE_H

#include "engine/context.h"

enum status chain_choose(const struct context *context, const struct problem *problem,
	struct json **chosen, struct error *err);
/* Submits what the choice needs to the compilers; device: whose cubins they are. */
enum status chain_request(const struct catalogue *catalogue, const struct device_spec *device,
	struct kernel_store *store, const struct json_at *chosen, struct error *err);

/* The one problem of an operation that a text names. */
enum status chain_problem(const struct catalogue *catalogue, const char *operation,
	const char *text, struct problem **problem, struct error *err);

#endif
