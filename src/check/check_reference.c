/* SPDX-License-Identifier: MIT
 *
 * The entry's "check": what a check measured of the winner, for later checks to compare with.
 */
#include <string.h>

#include "check/check_parts.h"

struct json *check_reference_to_json(
	const struct check_reference *reference, const char *kernel_hash, double confidence_ratio)
{
	struct json *json = json_new_object(), *ratio = json_new_object();

	json_put_string(json, "kernel_hash", kernel_hash);
	json_put_double(json, "time_us", reference->time_us);
	json_put_double(json, "anchor_us", reference->anchor_us);
	json_put_double(ratio, "value", reference->per_anchor.value);
	json_put_double(ratio, "low", reference->per_anchor.low);
	json_put_double(ratio, "high", reference->per_anchor.high);
	json_put_double(ratio, "confidence_ratio", confidence_ratio);
	json_put(json, "time_over_anchor", ratio);
	json_put_int(json, "blocks", (int64_t)reference->blocks);
	return json;
}

bool check_reference_find(
	const struct json_at *entry, double confidence_ratio, struct check_reference *reference)
{
	struct check_estimate *ratio = &reference->per_anchor;
	struct json_at check, winner, at;
	const char *hash = "", *winner_hash = "";
	double confidence = 0;
	int64_t blocks = 0;

	*reference = (struct check_reference){0};
	if (!json_find(entry, "check", &check) || !json_find(entry, "winner", &winner) ||
		json_member_string(&check, "kernel_hash", &hash, NULL) != STATUS_OK ||
		json_member_string(&winner, "kernel_hash", &winner_hash, NULL) != STATUS_OK ||
		strcmp(hash, winner_hash) != 0 ||
		json_member_double(&check, "time_us", &reference->time_us, NULL) != STATUS_OK ||
		json_member_double(&check, "anchor_us", &reference->anchor_us, NULL) != STATUS_OK ||
		json_member_int(&check, "blocks", &blocks, NULL) != STATUS_OK ||
		!json_find(&check, "time_over_anchor", &at) ||
		json_member_double(&at, "value", &ratio->value, NULL) != STATUS_OK ||
		json_member_double(&at, "low", &ratio->low, NULL) != STATUS_OK ||
		json_member_double(&at, "high", &ratio->high, NULL) != STATUS_OK ||
		json_member_double(&at, "confidence_ratio", &confidence, NULL) != STATUS_OK)
		return false;
	if (!(reference->time_us > 0) || !(reference->anchor_us > 0) || !(ratio->low > 0) ||
		!(ratio->value >= ratio->low) || !(ratio->high >= ratio->value) ||
		!(confidence > 0 && confidence < 1) || blocks < 1)
		return false;
	reference->blocks = (size_t)blocks;
	*ratio = check_estimate_at(ratio, confidence, confidence_ratio);
	return true;
}
