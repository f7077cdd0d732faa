/* SPDX-License-Identifier: MIT
 *
 * Joining tuned files: which entry stays under which rule, and that nothing else is lost.
 */
#include "unit/unit.h"
#include "tuned_entries.h"

#include "format/merge.h"

/* One entry: "gemm/a:us ...", the first wins. The run's id is its date. */
static void open_file(struct tuned *tuned, const char *path, const char *date, const char *timing,
	const char *families)
{
	struct run run = run_of(date, "");

	tuned_init(tuned, path, device("NVIDIA H200", "h200-sxm", 90, 132));
	assert_null(put(tuned, entry(P1, timing, date, families)));
	tuned_put_run(tuned, &run);
}

/* "run: winner | family:us ..." of the only entry. */
static void assert_entry(const struct tuned *tuned, const char *expected)
{
	const struct tuned_entry *entry = &tuned->entries[0];
	struct text text = {0};

	assert_int_equal(tuned->entry_count, 1);
	text_appendf(&text, "%s: %s:%g |", entry->run, entry->winner.result.family,
		entry->winner.result.time.median);
	for (size_t i = 0; i < entry->family_count; i++)
		text_appendf(&text, " %s:%g", entry->families[i].result.family,
			entry->families[i].result.time.median);
	assert_string_equal(text.data, expected);
	text_release(&text);
}

struct side {
	const char *date, *timing, *families;
};

static void assert_merged(
	struct side ours, struct side theirs, const char *expected, size_t conflicts)
{
	struct tuned into, from;
	struct merge_summary summary = {0};
	struct error err = {0};

	open_file(&into, "into.json", ours.date, ours.timing, ours.families);
	open_file(&from, "from.json", theirs.date, theirs.timing, theirs.families);
	into.entries[0].unfinished = strcmp(ours.timing, "stopped") == 0;
	from.entries[0].unfinished = strcmp(theirs.timing, "stopped") == 0;
	assert_ok(tuned_merge(&into, &from, NULL, &summary, &err));
	assert_entry(&into, expected);
	assert_int_equal(summary.conflicts, conflicts);
	assert_int_equal(summary.added, 0);
	assert_int_equal(into.run_count, strcmp(ours.date, theirs.date) == 0 ? 1 : 2);
	tuned_release(&into);
	tuned_release(&from);
}

TEST(test_the_later_run_stays)
{
	const struct side old = {"2026-01-01", "measured", "gemm/a:5"};
	const struct side new = {"2026-02-01", "measured", "gemm/a:6"};
	const struct side stopped = {"2026-02-01", "stopped", "gemm/a:6"};

	assert_merged(old, stopped, "2026-01-01: gemm/a:5 |", 1);
	assert_merged(stopped, old, "2026-01-01: gemm/a:5 |", 1);
	assert_merged(old, new, "2026-02-01: gemm/a:6 |", 1);
	assert_merged(new, old, "2026-02-01: gemm/a:6 |", 1);
}

/* Of a family that both tuned the later row stays; what only one tuned is added, and may win. */
TEST(test_families_are_added)
{
	const struct side one = {"2026-01-01", "measured", "gemm/a:5 gemm/b:7"};
	const struct side other = {"2026-02-01", "measured", "gemm/b:4 gemm/c:9"};

	assert_merged(one, other, "2026-02-01: gemm/b:4 | gemm/c:9 gemm/a:5", 1);
	assert_merged(other, one, "2026-02-01: gemm/b:4 | gemm/c:9 gemm/a:5", 1);
	/* the base's winner loses to a family that it did not tune */
	assert_merged((struct side){"2026-02-01", "measured", "gemm/a:5"},
		(struct side){"2026-01-01", "measured", "gemm/d:2"},
		"2026-02-01: gemm/d:2 | gemm/a:5", 1);
}

TEST(test_measured_outranks_predicted)
{
	const struct side measured = {"2026-01-01", "measured", "gemm/a:5"};
	const struct side predicted = {"2026-02-01", "predicted", "gemm/b:1"};

	assert_merged(measured, predicted, "2026-01-01: gemm/a:5 |", 0);
	assert_merged(predicted, measured, "2026-01-01: gemm/a:5 |", 0);
}

TEST(test_what_is_alike_is_no_conflict)
{
	const struct side side = {"2026-01-01", "measured", "gemm/a:5"};

	assert_merged(side, side, "2026-01-01: gemm/a:5 |", 0);
}

TEST(test_another_gpu_model_is_refused)
{
	struct tuned into, from;
	struct merge_summary summary = {0};
	struct error err = {0};

	open_file(&into, "into.json", "2026-01-01", "measured", "gemm/a:5");
	open_file(&from, "from.json", "2026-02-01", "measured", "gemm/a:6");
	from.device.sm_count = 114;
	assert_fails(tuned_merge(&into, &from, NULL, &summary, &err), STATUS_BAD_INPUT,
		"from.json: expected a tuned file of NVIDIA H200 with 132 SMs, as into.json is, "
		"found one of NVIDIA H200 with 114 SMs");
	assert_entry(&into, "2026-01-01: gemm/a:5 |");
	tuned_release(&into);
	tuned_release(&from);
}
