/* SPDX-License-Identifier: MIT
 *
 * A run and its GPU model, as files store them.
 */
#ifndef FORMAT_RUN_H
#define FORMAT_RUN_H

#include "record/record.h"
#include "spec/device_spec.h"

enum {
	RUN_ID_SIZE = 40
};

struct gpu_model {
	char *name;  /* the driver's name, or the sheet's title */
	char *sheet; /* name of the device sheet, or NULL */
	int64_t compute_capability, sm_count;
	char *arch; /* NULL: not known, as are negative numbers */
	int64_t l2_bytes, dram_bytes, smem_per_sm_bytes, smem_per_block_bytes, regs_per_sm;
};
RECORD_DECLARE(struct gpu_model, gpu_model_record);

struct gpu_model gpu_model_of(const struct device_spec *spec, const char *name);
struct json *gpu_model_json(const struct device_spec *spec, const char *name);
/* Makes a specification. A model without a sheet gets the default rates of its architecture. */
enum status gpu_model_spec(const struct gpu_model *model, const char *const *config_folders,
	struct device_spec **spec, struct error *err);
void gpu_model_release(struct gpu_model *model);
/* Returns whether models are the same; a sheet equals a GPU that it matches. */
bool gpu_model_same(const struct gpu_model *a, const struct gpu_model *b);

struct run_program {
	char *version, *commit;
};

struct run_clocks {
	double sm_mhz, sm_max_mhz, memory_mhz; /* NaN: not known */
};

/* Members are NULL if not known. */
struct run {
	char *id, *date, *command;
	struct run_program program;
	char *driver, *nvrtc, *uuid, *mig;
	struct run_clocks *clocks;
	double power_limit_w, anchor_us; /* 0: not known */
	char *device_kind;               /* "cuda", "model", "replay", "program" */
};
RECORD_DECLARE(struct run, run_record);      /* in a tuned file */
RECORD_DECLARE(struct run, run_line_record); /* in a journal, without device_kind */
extern const struct record_rule device_kind_rule;
/* Returns whether a path with this name stays in its folder. */
bool name_is_file(const char *text);

void run_release(struct run *run);

#endif
