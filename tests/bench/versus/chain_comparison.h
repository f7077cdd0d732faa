/* SPDX-License-Identifier: MIT
 *
 * One problem of gemm_chain: the best of every family that fuses, the two products of ours (each
 * step's fastest, the intermediate stored) and two calls of cuBLASLt (each its fastest pick, the
 * same intermediate), timed side by side on the same random inputs.
 */
#ifndef VERSUS_CHAIN_COMPARISON_H
#define VERSUS_CHAIN_COMPARISON_H

#include "base/json.h"
#include "bench/versus/setup.h"

struct chain_options {
	size_t rounds;  /* at most, of the interleaved timing */
	double seconds; /* for the interleaved timing; at least 7 rounds are done */
};

enum {
	CHAIN_FAMILIES = 3
};
extern const char *const chain_families[CHAIN_FAMILIES]; /* those that fuse */

struct chain_times { /* medians of the interleaved timing; infinite: there is none */
	double fused_us[CHAIN_FAMILIES], separate_us, cublaslt_us, cublaslt_default_us;
	/* of the rounds: time of the faster two products, and of cuBLASLt's, over ours fused */
	double gain, gain_over_cublaslt;
	double difference;
	bool agrees;
};

/* chosen: versus/chain_choice.h. *json gets all of it. Errors: a broken chosen, a reason why there
 * is no result. *fatal: the context is lost. */
enum status chain_comparison(struct setup *setup, const struct json_at *chosen,
	const struct chain_options *options, struct chain_times *times, struct json **json,
	bool *fatal, struct error *err);

#endif
