/* SPDX-License-Identifier: MIT
 *
 * An entry of a tuned file, rebuilt from its problem, family and configuration into kernels and
 * launches in the same way as by the tuner, and as cuBLASLt's products: one for gemm, two for
 * gemm_chain.
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
	char *problem;       /* canonical text of the problem */
	char *family;        /* such as "gemm/wgmma" */
	char *configuration; /* such as "BM=128,..." */
	char *skipped;       /* reason for skipping the comparison, or NULL */
	bool kernel_changed; /* the sources differ from those that the entry was tuned with */
	double flop;
	struct lt_shape
		shapes[PRODUCTS_MAX]; /* A of the second product is the result of the first */
	size_t product_count;
	struct plan plan;
	struct build build;
	struct reference_plan reference; /* describes the problem's tensors */
};

/* entry comes from a tuned file. family "gemm/mma" selects the best row of that family, and NULL
 * the winner. An entry that cannot be compared (another operation, a residual, a configuration that
 * is no longer in the space) is not an error: `skipped` has the reason. */
void subject_init(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, const char *family, struct subject *subject);
void subject_release(struct subject *subject);
/* Requests the subject's kernels. Their cubins are available once kernel_store_wait() has answered
 * for each unit. */
enum status subject_request(
	const struct subject *subject, struct kernel_store *store, struct error *err);

#endif
