/* SPDX-License-Identifier: MIT
 *
 * The compiled kernels of a run, by content. Candidates and problems with the same build unit
 * share a cubin and wait for one compilation. A kernel is the compiler's result for a unit.
 */
#ifndef ENGINE_KERNEL_STORE_H
#define ENGINE_KERNEL_STORE_H

#include "compile/compiler.h"
#include "plan/reference_plan.h"

struct kernel_store;

/* Borrows the compiler. */
struct kernel_store *kernel_store_new(struct compiler *compiler, const char *arch);
void kernel_store_free(struct kernel_store *store);
/* Gets the kernel of this unit, and submits the unit if it is new. The kernel is borrowed and
 * its address does not change. It may be read once compile_is_done() returns true. */
enum status kernel_store_request(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err);
/* Waits like compiler_poll(). */
bool kernel_store_poll(struct kernel_store *store, double timeout_s);
struct kernel_counts {
	size_t kernels;
	size_t compiled; /* compiled for this store, not taken from the cache */
	double seconds;  /* total time of these compilations */
	size_t failed;   /* kernels that do not compile */
	const struct compile_result *first_failed;
};
struct kernel_counts kernel_store_count(const struct kernel_store *store);
/* Waits until one unit is compiled (helper kernels, references, `explain`). */
enum status kernel_store_wait(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err);
/* Returns the resources of the launch's entry; its kernel must be compiled. Sets the launch's
 * entry to the name in the code. */
struct kernel_resources kernel_take_entry(
	const struct compile_result *kernel, struct plan_launch *launch);
/* Sets the names of the plan's symbols to those in the code of their units, which are compiled, and
 * removes symbols from units without the variable. The symbol "table" finds a::table, if this is
 * the only variable of the name. Fails with STATUS_BAD_INPUT if no unit has a variable, or if it is
 * smaller than its tensor. */
enum status kernel_take_symbols(
	const struct compile_result *const *kernels, struct plan *plan, struct error *err);

#endif
