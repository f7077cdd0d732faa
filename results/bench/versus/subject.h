/* SPDX-License-Identifier: MIT
 *
 * An entry of a tuned file, rebuilt: from its problem, family and configuration to
 * what is compiled and launched, by the same way as the tuner's; and as cuBLASLt's products: one
 * of gemm, two of gemm_chain.
 */
#ifndef VERSUS_SUBJECT_H
#define VERSUS_SUBJECT_H

#include "bench/versus/lt.h"
#include "candidate/candidate.h"
#include "engine/kernel_store.h"
#include "format/tuned_entry.h"

enum {
	PRODUCTS_MAX = 2,
};

struct subject {
	char *problem;       /* canonical text */
	char *family;        /* "gemm/wgmma" */
	char *configuration; /* "BM=128,..." */
	char *skipped;       /* why it is not compared; NULL: it is */
	bool kernel_changed; /* the sources are not those that the entry was tuned with */
	double flop;
	struct lt_shape shapes[PRODUCTS_MAX]; /* the second has the first one's result as A */
	size_t product_count;
	struct plan plan;
	struct build build;
	struct reference_plan reference; /* for its tensors */
};

/* entry: of a tuned file; family: "gemm/mma" takes the best of that family instead of the winner,
 * NULL the winner. What cannot be compared (another operation, a residual, a space
 * that no longer has the configuration) is no error: `skipped` says why. */
void subject_init(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, const char *family, struct subject *subject);
void subject_release(struct subject *subject);
/* Asks for its kernels; cubins are there once kernel_store_wait() answers for each unit. */
enum status subject_request(
	const struct subject *subject, struct kernel_store *store, struct error *err);

#endif
