/* SPDX-License-Identifier: MIT
 *
 * The compiled kernels of a run. Build units with equal content are compiled once.
 */
#ifndef ENGINE_KERNEL_STORE_H
#define ENGINE_KERNEL_STORE_H

#include "compile/compiler.h"

struct kernel_store;

/* Borrows the compiler. */
struct kernel_store *kernel_store_new(struct compiler *compiler, const char *arch);
void kernel_store_free(struct kernel_store *store);
/* Submits a new unit. The kernel is borrowed, keeps its address, and may be read once
 * compile_is_done() returns true. */
enum status kernel_store_request(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err);
/* Waits like compiler_poll(). */
bool kernel_store_poll(struct kernel_store *store, double timeout_s);
struct kernel_counts {
	size_t kernels;
	size_t compiled; /* kernels that were not in the cache */
	double seconds;
	size_t failed;
	const struct compile_result *first_failed;
};
struct kernel_counts kernel_store_count(const struct kernel_store *store);
/* Waits until the unit is compiled. */
enum status kernel_store_wait(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err);
/* Returns the resources of the launch's entry in a compiled kernel. Sets the entry to the name in
 * the code. */
struct kernel_resources kernel_take_entry(
	const struct compile_result *kernel, struct plan_launch *launch);
/* Sets the names of the plan's symbols to those in the code, and removes symbols from units without
 * the variable. "table" finds a::table if no other name matches. STATUS_BAD_INPUT if no unit has a
 * variable, or if the variable is smaller than its tensor. */
enum status kernel_take_symbols(
	const struct compile_result *const *kernels, struct plan *plan, struct error *err);

#endif
