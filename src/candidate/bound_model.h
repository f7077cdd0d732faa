/* SPDX-License-Identifier: MIT
 *
 * A family's launches and models for one problem on one device, with all that follows from these
 * computed beforehand: candidates are scored by the hundred thousand.
 */
#ifndef CANDIDATE_BOUND_MODEL_H
#define CANDIDATE_BOUND_MODEL_H

#include "candidate/candidate.h"
#include "family/launch.h"
#include "family/workspace.h"

struct bound_model {
	struct launch *launches; /* specialised copies; without arguments */
	size_t launch_count;
	struct expression **workspace_bytes;
	size_t workspace_count;
	struct plan_buffer *tensors; /* the problem's */
	double flop, min_bytes;
	struct access_memo **memos; /* per launch, one per access */
};

/* fixed: values of the slots before the parameters; strings outlive the model. */
enum status bound_model_new(const struct family *family, const struct problem *problem,
	const struct value *fixed, struct bound_model **model, struct error *err);
void bound_model_free(struct bound_model *model);

/* ---- addresses of shared-memory accesses, remembered by what they depend on ---- */
enum {
	MEMO_SLOTS_MAX = 8,
	MEMO_ENTRIES = 64
};

struct access_memo {
	bool usable; /* few enough names */
	int slots[MEMO_SLOTS_MAX];
	size_t slot_count;
	struct memo_entry {
		bool used;
		int64_t key[MEMO_SLOTS_MAX];
		uint32_t address[WORK_LANES];
	} entries[MEMO_ENTRIES];
};

void access_memo_init(struct access_memo *memo, const struct expression *address, size_t lane_slot);
/* The entry that belongs to values: used (its addresses hold), or to be filled (its key is set).
 * NULL: not memoizable. */
struct memo_entry *access_memo_find(struct access_memo *memo, const struct value *values);

#endif
