/* layer: results
 * SPDX-License-Identifier: MIT
 *
 * The tuned file's rules: what replaces what, which files are refused, what survives a re-write.
 */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "results/tuned.h"

/* ---- building ---- */
static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct error err = {0};

	assert_ok(json_parse(text, strlen(text), "test", &json, &err));
	return json;
}

static struct json *device_json(const char *name, const char *sheet, int cc, int sm_count)
{
	struct json *device = json_new_object();

	json_put_string(device, "name", name);
	json_put_string(device, "sheet", sheet);
	json_put_int(device, "compute_capability", cc);
	json_put_int(device, "sm_count", sm_count);
	return device;
}

static struct json *row(const char *family, double us)
{
	char *text = string_format("{\"family\":\"%s\",\"configuration\":{\"BM\":%d},\"time_us\":{"
				   "\"median\":%.17g,\"ci95_low\":%.17g,\"ci95_high\":%.17g,"
				   "\"samples\":3}}",
		family, (int)us, us, us, us);
	struct json *json = parse(text);

	free(text);
	return json;
}

/* families: "gemm/a:5 gemm/b:7", the first is the winner. */
static struct json *entry(
	const char *problem, const char *timing, const char *run, const char *families)
{
	struct json *json = json_new_object(), *rows = json_new_array(), *tied = json_new_array();
	char *list = string_copy(families), *rest = NULL;
	bool first = true;

	json_put_string(json, "operation", "gemm");
	json_put(json, "problem", parse(problem));
	json_put_string(json, "timing", timing);
	json_put_string(json, "run", run);
	for (char *item = strtok_r(list, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
		char *colon = strchr(item, ':');

		*colon = '\0';
		if (first)
			json_put(json, "winner", row(item, strtod(colon + 1, NULL)));
		json_push(rows, row(item, strtod(colon + 1, NULL)));
		first = false;
	}
	json_push(tied, row("gemm/tied", 5));
	json_put(json, "tied", tied);
	json_put(json, "families", rows);
	free(list);
	return json;
}

#define P1 "{\"M\":1,\"dtype\":\"bf16\"}"
#define P2 "{\"M\":2,\"dtype\":\"bf16\"}"

static void open_empty(struct tuned *tuned)
{
	tuned_init(tuned, "x.json", device_json("NVIDIA H200", "h200-sxm", 90, 132));
}

static const char *put(struct tuned *tuned, struct json *fresh)
{
	const char *kept;

	tuned_put_entry(tuned, fresh, NULL, &kept);
	return kept;
}

/* "winner@run | family@run:time ..." of the entry with this problem. */
static char *describe(const struct tuned *tuned, const char *problem)
{
	struct json *wanted = parse(problem);
	struct json_at at, winner, rows, time;
	const char *family = "", *run = "";
	struct text text = {0};

	assert_true(tuned_find(tuned, "gemm", wanted, &at));
	json_free(wanted);
	assert_true(json_find(&at, "winner", &winner));
	json_member_string(&winner, "family", &family, NULL);
	json_member_string(&winner, "run", &run, NULL);
	text_appendf(&text, "%s%s%s |", family, run[0] ? "@" : "", run);
	assert_true(json_find(&at, "families", &rows));
	for (size_t i = 0; i < json_count(&rows); i++) {
		struct json_at item = json_item(&rows, i);
		double median = 0;

		run = "";
		json_member_string(&item, "family", &family, NULL);
		json_member_string(&item, "run", &run, NULL);
		assert_true(json_find(&item, "time_us", &time));
		json_member_double(&time, "median", &median, NULL);
		text_appendf(&text, " %s%s%s:%g", family, run[0] ? "@" : "", run, median);
	}
	return text_detach(&text);
}

static void check(const struct tuned *tuned, const char *problem, const char *expected)
{
	char *found = describe(tuned, problem);

	assert_string_equal(found, expected);
	free(found);
}

static size_t count(const struct tuned *tuned, const char *list)
{
	struct json_at root = json_root(tuned->root, ""), at;

	assert_true(json_find(&root, list, &at));
	return json_count(&at);
}

/* ---- entries ---- */
static void test_an_entry_is_replaced_by_its_own_problem(void **state)
{
	struct tuned tuned;

	(void)state;
	open_empty(&tuned);
	assert_null(put(&tuned, entry(P1, "measured", "r1", "gemm/a:5")));
	assert_null(put(&tuned, entry(P2, "measured", "r1", "gemm/a:9")));
	assert_int_equal(count(&tuned, "entries"), 2);
	assert_null(put(&tuned, entry(P1, "measured", "r2", "gemm/a:4")));
	assert_int_equal(count(&tuned, "entries"), 2);
	check(&tuned, P1, "gemm/a | gemm/a:4");
	check(&tuned, P2, "gemm/a | gemm/a:9");
	/* slower than before, but it is what was measured now */
	assert_null(put(&tuned, entry(P1, "measured", "r3", "gemm/a:6")));
	check(&tuned, P1, "gemm/a | gemm/a:6");
	tuned_release(&tuned);
}

static void test_problems_are_compared_by_members(void **state)
{
	struct json *a = parse("{\"M\":1,\"N\":2}"), *b = parse("{\"N\":2,\"M\":1}");
	struct json *c = parse("{\"M\":1,\"N\":3}"), *d = parse("{\"M\":1}");
	struct json *e = parse("{\"M\":1,\"N\":\"2\"}"), *f = parse("{\"M\":1,\"K\":2}");

	(void)state;
	assert_true(tuned_same_problem(a, b));
	assert_false(tuned_same_problem(a, c));
	assert_false(tuned_same_problem(a, d));
	assert_false(tuned_same_problem(d, a));
	assert_false(tuned_same_problem(a, e));
	assert_false(tuned_same_problem(a, f));
	json_free(a), json_free(b), json_free(c), json_free(d), json_free(e), json_free(f);
}

static void test_predicted_never_replaces_measured(void **state)
{
	struct tuned tuned;

	(void)state;
	open_empty(&tuned);
	assert_null(put(&tuned, entry(P1, "measured", "r1", "gemm/a:5")));
	assert_string_equal(put(&tuned, entry(P1, "predicted", "r2", "gemm/b:1")),
		"a measured entry is not replaced by a predicted one");
	check(&tuned, P1, "gemm/a | gemm/a:5");
	/* another problem is no concern of that */
	assert_null(put(&tuned, entry(P2, "predicted", "r2", "gemm/b:1")));
	/* predicted by predicted, and predicted by measured, whole: no predicted row stays */
	assert_null(put(&tuned, entry(P2, "predicted", "r3", "gemm/b:2 gemm/c:3")));
	check(&tuned, P2, "gemm/b | gemm/b:2 gemm/c:3");
	assert_null(put(&tuned, entry(P2, "measured", "r4", "gemm/b:20")));
	check(&tuned, P2, "gemm/b | gemm/b:20");
	tuned_release(&tuned);
}

static void test_families_are_merged(void **state)
{
	struct tuned tuned;
	struct json_at found, tied, run;
	struct json *wanted = parse(P1);

	(void)state;
	open_empty(&tuned);
	put(&tuned, entry(P1, "measured", "r1", "gemm/a:5 gemm/b:7 gemm/c:9"));
	/* b alone again, now fastest */
	put(&tuned, entry(P1, "measured", "r2", "gemm/b:4"));
	check(&tuned, P1, "gemm/b | gemm/b:4 gemm/a@r1:5 gemm/c@r1:9");
	/* c alone, not fast enough: b of r2 stays the winner, and says of which run it is */
	assert_string_equal(put(&tuned, entry(P1, "measured", "r3", "gemm/c:8")),
		"the winner stays one of a family that was not tuned now");
	check(&tuned, P1, "gemm/b@r2 | gemm/c:8 gemm/b@r2:4 gemm/a@r1:5");
	/* what was level with the new winner is not level with the old one */
	assert_true(tuned_find(&tuned, "gemm", wanted, &found));
	assert_true(json_find(&found, "tied", &tied));
	assert_int_equal(json_count(&tied), 0);
	assert_true(json_find(&found, "run", &run));
	/* within 1% of the old one: level, and the new one is the winner */
	assert_null(put(&tuned, entry(P1, "measured", "r4", "gemm/c:4.03")));
	check(&tuned, P1, "gemm/c | gemm/c:4.03 gemm/b@r2:4 gemm/a@r1:5");
	json_free(wanted);
	tuned_release(&tuned);
}

/* Several old rows beat the new winner: the fastest wins, wherever it stands. */
static void test_the_fastest_old_row_wins(void **state)
{
	static const char *const orders[] = {"gemm/a:3 gemm/b:5", "gemm/b:5 gemm/a:3"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		struct tuned tuned;
		char *found;

		open_empty(&tuned);
		put(&tuned, entry(P1, "measured", "r1", orders[i]));
		put(&tuned, entry(P1, "measured", "r2", "gemm/c:9"));
		found = describe(&tuned, P1);
		assert_true(string_starts_with(found, "gemm/a@r1 |"));
		free(found);
		tuned_release(&tuned);
	}
}

/* ---- rows of families that were tuned again ---- */
/* Says yes or no, and counts how often it was asked. */
struct answer {
	bool stands;
	int asked;
};

static bool answer(const struct json_at *row, void *context)
{
	struct answer *answer = context;
	const char *family = "";

	json_member_string(row, "family", &family, NULL);
	assert_true(string_starts_with(family, "gemm/"));
	answer->asked++;
	return answer->stands;
}

#define RUN(id, driver, nvrtc, watt, uuid, anchor)                                                 \
	"{\"id\":\"" id "\",\"driver\":" driver ",\"nvrtc\":" nvrtc ",\"power_limit_w\":" watt     \
	",\"uuid\":" uuid ",\"mig\":\"disabled\",\"anchor_us\":" anchor "}"
#define OLD_RUN RUN("r1", "\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1000")

/* families of r1, then of r2 in a run like this, with a judge that says yes. */
static const char *put_again(struct tuned *tuned, const char *old_run, const char *new_run,
	const char *old, const char *new, struct answer *context)
{
	const struct tuned_judge judge = {answer, context};
	const char *kept;

	open_empty(tuned);
	tuned_put_run(tuned, parse(old_run));
	tuned_put_run(tuned, parse(new_run));
	tuned_put_entry(tuned, entry(P1, "measured", "r1", old), &judge, &kept);
	assert_null(kept);
	assert_int_equal(context->asked, 0);
	tuned_put_entry(tuned, entry(P1, "measured", "r2", new), &judge, &kept);
	return kept;
}

/* A run over few candidates does not undo what an earlier one found. */
static void test_a_faster_row_stays(void **state)
{
	static const char same[] = RUN("r2", "\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1000");
	struct answer yes = {.stands = true}, no = {0};
	struct tuned tuned;

	(void)state;
	/* b of r1 is faster, a of r2: each stays, and the winner is a */
	assert_null(
		put_again(&tuned, OLD_RUN, same, "gemm/a:5 gemm/b:7", "gemm/a:4 gemm/b:8", &yes));
	check(&tuned, P1, "gemm/a | gemm/a:4 gemm/b@r1:7");
	assert_int_equal(yes.asked, 1);
	tuned_release(&tuned);
	/* the winner's own row */
	yes.asked = 0;
	assert_string_equal(put_again(&tuned, OLD_RUN, same, "gemm/a:5", "gemm/a:6", &yes),
		"the winner stays what an earlier run found: nothing that was tried now is as "
		"fast");
	check(&tuned, P1, "gemm/a@r1 | gemm/a@r1:5");
	tuned_release(&tuned);
	/* its sources have changed, or it was tried again: the judge says no */
	assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:5", "gemm/a:6", &no));
	check(&tuned, P1, "gemm/a | gemm/a:6");
	assert_int_equal(no.asked, 1);
	tuned_release(&tuned);
	/* within the floor of 1%, and the same configuration (BM is the whole number) timed again
	 */
	no.asked = 0;
	assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:9.96", "gemm/a:10.04", &no));
	check(&tuned, P1, "gemm/a | gemm/a:10.04");
	tuned_release(&tuned);
	assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:5.1", "gemm/a:5.9", &no));
	check(&tuned, P1, "gemm/a | gemm/a:5.9");
	tuned_release(&tuned);
	assert_int_equal(no.asked, 0);
}

/* Another driver, compiler, power limit or MIG mode: what was measured then says nothing now. The
 * anchor stands for the clock, and makes two cards of one model comparable. */
static void test_rows_of_other_conditions_are_replaced(void **state)
{
	static const struct {
		const char *run, *expected;
	} cases[] = {
		{RUN("r2", "\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1000"),
			"@r1 | gemm/a@r1:50"},
		{RUN("r2", "\"590\"", "\"13.0\"", "700", "\"GPU-1\"", "1000"), " | gemm/a:55"},
		{RUN("r2", "\"580\"", "\"13.1\"", "700", "\"GPU-1\"", "1000"), " | gemm/a:55"},
		{RUN("r2", "\"580\"", "\"13.0\"", "500", "\"GPU-1\"", "1000"), " | gemm/a:55"},
		{RUN("r2", "null", "\"13.0\"", "700", "\"GPU-1\"", "1000"), " | gemm/a:55"},
		{RUN("r2", "\"580\"", "\"13.0\"", "700", "\"GPU-2\"", "1000"),
			"@r1 | gemm/a@r1:50"},
		{RUN("r2", "\"580\"", "\"13.0\"", "700", "\"GPU-2\"", "null"), " | gemm/a:55"},
		{RUN("r2", "\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "null"),
			"@r1 | gemm/a@r1:50"},
		/* today's clock is 12% slower: 50 us would be 56 */
		{RUN("r2", "\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1120"), " | gemm/a:55"},
		{"{\"id\":\"another\"}", " | gemm/a:55"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct answer yes = {.stands = true};
		struct tuned tuned;
		char *expected = string_format("gemm/a%s", cases[i].expected);

		put_again(&tuned, OLD_RUN, cases[i].run, "gemm/a:50", "gemm/a:55", &yes);
		check(&tuned, P1, expected);
		free(expected);
		tuned_release(&tuned);
	}
}

static void test_runs_are_listed_once(void **state)
{
	struct tuned tuned;

	(void)state;
	open_empty(&tuned);
	tuned_put_run(&tuned, parse("{\"id\":\"r1\",\"date\":\"a\"}"));
	tuned_put_run(&tuned, parse("{\"id\":\"r2\"}"));
	tuned_put_run(&tuned, parse("{\"id\":\"r1\",\"date\":\"b\"}"));
	assert_int_equal(count(&tuned, "runs"), 2);
	tuned_release(&tuned);
}

/* ---- files ---- */
static void test_other_devices_are_refused(void **state)
{
	static const struct {
		const char *name, *sheet;
		int cc, sm_count;
		bool same;
	} cases[] = {
		{"NVIDIA H200", "h200-sxm", 90, 132, true},
		/* the sheet that the GPU matches is the same model, whatever it is called */
		{"NVIDIA H200 SXM5 141 GB", "h200-sxm", 90, 132, true},
		{"NVIDIA H200", NULL, 90, 132, true},
		{"NVIDIA H200", "h200-sxm", 90, 66, false}, /* a part of it (MIG) */
		{"NVIDIA H100", "h100-sxm", 90, 132, false},
		{"NVIDIA H200", "h200-sxm", 100, 132, false},
		{"NVIDIA X", NULL, 90, 132, false},
	};
	struct error err = {0};
	struct tuned tuned;

	(void)state;
	open_empty(&tuned);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct json *device =
			device_json(cases[i].name, cases[i].sheet, cases[i].cc, cases[i].sm_count);

		if (cases[i].same) {
			assert_ok(tuned_same_device(&tuned, device, &err));
		} else {
			assert_fails(tuned_same_device(&tuned, device, &err), STATUS_BAD_INPUT,
				"expected a tuned file of");
			assert_string_equal(err.hint, "write to another file with -o");
		}
		json_free(device);
	}
	tuned_release(&tuned);
}

/* Two GPUs without a sheet have that in common, and no more. */
static void test_gpus_without_a_sheet_differ_by_name(void **state)
{
	struct json *other = device_json("NVIDIA B", NULL, 86, 84);
	struct error err = {0};
	struct tuned tuned;

	(void)state;
	tuned_init(&tuned, "x.json", device_json("NVIDIA A", NULL, 86, 84));
	assert_fails(tuned_same_device(&tuned, other, &err), STATUS_BAD_INPUT,
		"x.json: expected a tuned file of NVIDIA B, found one of NVIDIA A; it was not "
		"changed");
	json_free(other);
	tuned_release(&tuned);
}

static char *scratch_file(void)
{
	char *path = string_copy("/tmp/tiletune-tuned-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

static void write_text(const char *path, const char *text)
{
	struct error err = {0};

	assert_ok(file_write(path, text, strlen(text), &err));
}

static void test_unknown_members_survive(void **state)
{
	static const char file[] =
		"{\"format\":\"tiletune.tuned/1\",\"future\":{\"x\":[1,2]},\"device\":{\"name\":"
		"\"NVIDIA H200\",\"sheet\":\"h200-sxm\",\"compute_capability\":90,\"sm_count\":132,"
		"\"colour\":\"green\"},\"runs\":[{\"id\":\"r0\",\"weather\":\"rain\"}],\"entries\":"
		"[{\"operation\":\"gemm\",\"problem\":{\"M\":7},\"timing\":\"measured\",\"note\":"
		"\"kept\",\"winner\":{\"family\":\"gemm/a\",\"configuration\":{},\"mood\":\"good\","
		"\"time_us\":{\"median\":1.5}}}]}";
	static const char *const members[] = {
		"\"future\"", "\"colour\"", "\"weather\"", "\"note\"", "\"mood\""};
	char *path = scratch_file();
	struct text content = {0};
	struct tuned tuned;
	struct error err = {0};

	(void)state;
	write_text(path, file);
	assert_ok(tuned_load(path, &tuned, &err));
	put(&tuned, entry(P1, "measured", "r1", "gemm/a:5"));
	tuned_put_run(&tuned, parse("{\"id\":\"r1\"}"));
	assert_ok(tuned_save(&tuned, path, &err));
	tuned_release(&tuned);
	assert_ok(file_read(path, &content, &err));
	for (size_t i = 0; i < ARRAY_COUNT(members); i++)
		assert_non_null(strstr(content.data, members[i]));
	assert_ok(tuned_load(path, &tuned, &err));
	assert_int_equal(count(&tuned, "entries"), 2);
	assert_int_equal(count(&tuned, "runs"), 2);
	tuned_release(&tuned);
	text_release(&content);
	unlink(path);
	free(path);
}

#define HEAD "{\"format\":\"tiletune.tuned/1\",\"device\":{},\"runs\":[],\"entries\":"

static void test_broken_files_are_refused(void **state)
{
	static const struct {
		const char *content, *message;
	} cases[] = {
		{"", "expected"},
		{"{", "expected"},
		{"[]", "$: expected an object"},
		{"{}", "format"},
		{"{\"format\":\"tiletune.tuned/2\"}", "$.format: expected \"tiletune.tuned/1\""},
		{"{\"format\":\"tiletune.tuned/1\",\"device\":1}", "$.device: expected an object"},
		{"{\"format\":\"tiletune.tuned/1\",\"device\":{},\"runs\":{}}",
			"$.runs: expected an array"},
		{HEAD "7}", "$.entries: expected an array"},
		{HEAD "[1]}", "$.entries[0]"},
		{HEAD "[{\"operation\":\"gemm\"}]}", "$.entries[0]"},
		{HEAD "[{\"operation\":\"gemm\",\"timing\":\"measured\",\"problem\":[]}]}",
			"$.entries[0].problem: expected an object"},
		{HEAD "[{\"operation\":\"gemm\",\"timing\":\"measured\",\"problem\":{},\"winner\":{"
		      "\"family\":\"x\",\"configuration\":{},\"time_us\":{\"median\":\"1\"}}}]}",
			"$.entries[0].winner.time_us.median: expected a number"},
	};
	char *path = scratch_file();
	struct tuned tuned;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		write_text(path, cases[i].content);
		assert_fails(tuned_load(path, &tuned, &err), STATUS_BAD_INPUT, cases[i].message);
		assert_non_null(strstr(err.message, path));
		assert_null(tuned.root);
	}
	unlink(path);
	assert_fails(tuned_load(path, &tuned, &err), STATUS_BAD_INPUT, path);
	free(path);
}

/* A full disk leaves the old file as it was, and no other beside it. */
static void test_full_disk(void **state)
{
	char folder[] = "/tmp/tiletune-tuned-XXXXXX";
	struct rlimit limit, small;
	struct text before = {0}, after = {0};
	struct tuned tuned;
	struct error err = {0};
	char *path;

	(void)state;
	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "x.json");
	open_empty(&tuned);
	put(&tuned, entry(P1, "measured", "r1", "gemm/a:5"));
	assert_ok(tuned_save(&tuned, path, &err));
	assert_ok(file_read(path, &before, &err));
	put(&tuned, entry(P2, "measured", "r1", "gemm/a:5"));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = before.length;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_fails(tuned_save(&tuned, path, &err), STATUS_FAILED, "x.json");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_ok(file_read(path, &after, &err));
	assert_int_equal(after.length, before.length);
	assert_memory_equal(after.data, before.data, before.length);
	tuned_release(&tuned);
	text_release(&before);
	text_release(&after);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* empty: no temporary file is left */
	free(path);
}

static void test_a_device_as_json(void **state)
{
	struct device_spec spec = {.name = (char *)(uintptr_t) "h200-sxm",
		.from_sheet = true,
		.compute_capability = 90,
		.arch = "sm_90a",
		.sm_count = 132,
		.l2_bytes = 1,
		.dram_bytes = 2,
		.smem_per_sm_bytes = 3,
		.smem_per_block_bytes = 4,
		.regs_per_sm = 5};
	struct json *json = tuned_device_json(&spec, "NVIDIA H200");
	char *printed = json_print(json, false);

	(void)state;
	assert_string_equal(printed,
		"{\"name\":\"NVIDIA "
		"H200\",\"sheet\":\"h200-sxm\",\"compute_capability\":90,\"arch\":"
		"\"sm_90a\",\"sm_count\":132,\"l2_bytes\":1,\"dram_bytes\":2,\"smem_per_sm_bytes\":"
		"3,"
		"\"smem_per_block_bytes\":4,\"regs_per_sm\":5}");
	free(printed);
	json_free(json);
	spec.from_sheet = false;
	json = tuned_device_json(&spec, "NVIDIA H200");
	printed = json_print(json, false);
	assert_non_null(strstr(printed, "\"sheet\":null"));
	free(printed);
	json_free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_entry_is_replaced_by_its_own_problem),
		cmocka_unit_test(test_problems_are_compared_by_members),
		cmocka_unit_test(test_predicted_never_replaces_measured),
		cmocka_unit_test(test_families_are_merged),
		cmocka_unit_test(test_the_fastest_old_row_wins),
		cmocka_unit_test(test_a_faster_row_stays),
		cmocka_unit_test(test_rows_of_other_conditions_are_replaced),
		cmocka_unit_test(test_runs_are_listed_once),
		cmocka_unit_test(test_other_devices_are_refused),
		cmocka_unit_test(test_gpus_without_a_sheet_differ_by_name),
		cmocka_unit_test(test_unknown_members_survive),
		cmocka_unit_test(test_broken_files_are_refused),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_a_device_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
