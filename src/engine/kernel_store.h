/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels of a run by content: candidates and problems that share a build unit share its
 * cubin, and wait for one compilation. A kernel is what the compiler says of the unit.
 */
#ifndef ENGINE_KERNEL_STORE_H
#define ENGINE_KERNEL_STORE_H

#include "compile/compiler.h"
#include "plan/reference_plan.h"

struct kernel_store;

/* Borrows the compiler. */
struct kernel_store *kernel_store_new(struct compiler *compiler, const char *arch);
void kernel_store_free(struct kernel_store *store);
/* The kernel of this unit, submitted if it is new. Borrowed; stays where it is. Nothing of it holds
 * before compile_is_done(). */
enum status kernel_store_request(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err);
/* compiler_poll() */
bool kernel_store_poll(struct kernel_store *store, double timeout_s);
struct kernel_counts {
	size_t kernels;
	size_t compiled; /* by the compiler, for this store: not taken from the cache */
	double seconds;  /* that compilers took for these, all together */
	size_t failed;   /* they do not compile */
	const struct compile_result *first_failed;
};
struct kernel_counts kernel_store_count(const struct kernel_store *store);
/* Waits for one unit to be ready (helper kernels, references, `explain`). */
enum status kernel_store_wait(struct kernel_store *store, const struct build_unit *unit,
	const struct compile_result **kernel, struct error *err);
/* What a launch takes of its unit's kernel, which is ready; gives the launch the name that the code
 * has for its entry. */
struct kernel_resources kernel_take_entry(
	const struct compile_result *kernel, struct plan_launch *launch);

#endif
