/* SPDX-License-Identifier: MIT
 *
 * Keys of the cache, digests of outputs, and limits of measured and compared data.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "compile/cache_entry.h"
#include "format/bits.h"
#include "measure/problem_data.h"
#include "measure/retest.h"
#include "measure/sampler.h"
#include "rules/rules.h"

static char **strings(const struct json_at *in, const char *key, size_t *count)
{
	const struct json_at list = rule_member(in, key);
	char **items = memory_zeroed(json_count(&list) + 1, sizeof(*items));

	*count = json_count(&list);
	for (size_t i = 0; i < *count; i++) {
		const struct json_at item = json_item(&list, i);
		const char *text = "";
		struct error err = {0};

		rule_expect(json_get_string(&item, &text, &err), &err);
		items[i] = string_copy(text);
	}
	return items;
}

RULE(cache_key)
{
	struct build_unit unit = {.source = string_copy(rule_string(in, "source"))};
	char key[HASH_SIZE];

	unit.options = strings(in, "options", &unit.option_count);
	unit.entries = strings(in, "entries", &unit.entry_count);
	cache_key(&unit, rule_string(in, "arch"), rule_string(in, "compiler"),
		rule_string(in, "toolkit"), key);
	return json_new_string(key);
}

static struct output_digest bits_of(const struct json_at *in, const char *key)
{
	const struct json_at at = rule_member(in, key);
	struct output_digest bits = {
		.inputs = (unsigned)rule_size(&at, "inputs"), .rows = rule_size(&at, "rows")};
	size_t count;

	bits.digests = strings(&at, "digests", &count);
	return bits;
}

RULE(bits)
{
	static const char *const verdicts[] = {
		[DIGEST_SAME] = "same", [DIGEST_OTHER] = "other", [DIGEST_UNKNOWN] = "unknown"};
	const struct output_digest a = bits_of(in, "a"), b = bits_of(in, "b");
	struct json *out = json_new_object();
	uint64_t rows;

	json_put_string(out, "verdict", verdicts[output_digest_compare(&a, &b, &rows)]);
	json_put_int(out, "rows", (int64_t)rows);
	json_put_int(out, "count", (int64_t)bits_digest_count(a.rows));
	return out;
}

RULE(limits)
{
	struct json *out = json_new_object();
	const struct rule_numbers times = rule_numbers(in, "times");
	int64_t *points;

	json_put_int(out, "sets",
		(int64_t)problem_set_count(rule_size(in, "set_bytes"), rule_size(in, "l2_bytes"),
			rule_size(in, "memory_bytes")));
	json_put_bool(out, "noisy", sampler_is_noisy(times.items, times.count));
	json_put_int(out, "runs",
		runner_runs_per_sample(rule_number(in, "us"), rule_size(in, "operations")));
	json_put_int(out, "points",
		(int64_t)points_choose(
			rule_size(in, "rows"), rule_size(in, "columns"), 1, &points));
	free(points);
	return out;
}
