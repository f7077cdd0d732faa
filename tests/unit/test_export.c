/* layer: export */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_schema.h"
#include "export/export.h"

/* A file with two entries; the second one has two launches and text that needs care everywhere. */
static const char tuned_text[] =
	"{\"format\":\"tiletune.tuned/1\",\"device\":{\"name\":\"Test \\\"GPU\\\"\",\"compute"
	"_capability\":90,\"sm_count\":2},\"runs\":[{\"id\":\"r1\",\"date\":\"2026-01-31T12:0"
	"0:00Z\",\"tiletune\":{\"version\":\"1\"}}],\"entries\":[{\"operation\":\"gemm\",\"pr"
	"oblem\":{\"M\":64,\"dtype\":\"bf16\"},\"timing\":\"measured\",\"run\":\"r1\",\"winne"
	"r\":{\"family\":\"gemm/a\",\"configuration\":{\"BM\":16,\"L\":\"nk\"},\"defines\":{"
	"\"BM\":16,\"L_nk\":1},\"time_us\":{\"median\":12.5,\"ci95_low\":12,\"ci95_high\":13,"
	"\"samples\":9},\"tflops\":1.5,\"workspace_bytes\":0,\"launches\":[{\"source\":\"gemm"
	"/a.cu\",\"entry\":\"a\",\"grid\":[4,2,1],\"block\":[128,1,1],\"cluster\":[1,1,1],\"a"
	"rgs\":[\"A\",64,0.5],\"smem_dynamic_bytes\":1024}],\"errors\":{\"verified\":true},\""
	"kernel_hash\":\"0123456789abcdef0123456789abcdef\"},\"tied\":[],\"families\":[]},{\""
	"operation\":\"odd\",\"problem\":{\"k\":1,\"t\":\"a.b\"},\"timing\":"
	"\"predicted\",\"run\":\"r1\",\"winner\":{\"family\":\"odd/pair\",\"configuration\":{"
	"},\"time_us\":{\"median\":3,\"ci95_low\":3,\"ci95_high\":3,\"samples\":1},\"launches"
	"\":[{\"source\":\"x.cu\",\"entry\":\"x\",\"grid\":[1,1,1],\"block\":[32,1,1],\"args"
	"\":[],\"smem_dynamic_bytes\":0},{\"source\":\"y]==].cu;$(x)\\\"\?\\\\\\n::error::#1\","
	"\"entry\":\"y\",\"grid\":[7,1,1"
	"],\"block\":[64,1,1],\"repeat\":3,\"args\":[],\"smem_dynamic_bytes\":0}],\"kernel_ha"
	"sh\":\"0123456789abcdef0123456789abcdef\"},\"tied\":[],\"families\":[]}]}";

struct fixture {
	struct tuned tuned;
	const struct tuned_entry *entries[2];
	struct export_source source;
};

static void fixture_open(struct fixture *fixture)
{
	char path[] = "/tmp/test_export_XXXXXX";
	int fd = mkstemp(path);
	struct error err = {0};

	*fixture = (struct fixture){0};
	assert_true(fd >= 0);
	close(fd);
	assert_ok(file_write(path, tuned_text, strlen(tuned_text), &err));
	assert_ok(tuned_load(path, &fixture->tuned, &err));
	unlink(path);
	for (size_t i = 0; i < 2; i++)
		fixture->entries[i] = &fixture->tuned.entries[i];
	fixture->source = (struct export_source){.name = "t.json",
		.tuned = &fixture->tuned,
		.entries = fixture->entries,
		.entry_count = 2};
}

static struct text written(const struct export_source *source, const char *format)
{
	const struct export_format *found = export_format_find(format);
	struct text text = {0};
	struct error err;

	assert_non_null(found);
	assert_ok(found->write(source, &text, &err));
	return text;
}

static const char *string_of(const struct json_at *object, const char *key)
{
	const char *string = "";

	json_member_string(object, key, &string, NULL);
	return string;
}

static double number_of(const struct json_at *object, const char *key)
{
	double number = NAN;

	json_member_double(object, key, &number, NULL);
	return number;
}

static void assert_holds(const struct text *text, const char *expected)
{
	if (!strstr(text_string(text), expected))
		fail_msg("expected \"%s\" in:\n%s", expected, text_string(text));
}

static void csv_is_quoted(void **state)
{
	struct fixture fixture;
	struct text text;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "csv");
	assert_holds(&text,
		"\r\ngemm,\"M=64,dtype=bf16\",measured,winner,gemm/a,\"BM=16,L=nk\",12.5,12,"
		"13,9,,1.5,");
	assert_holds(&text, "odd,\"k=1,t=a.b\",predicted,winner,odd/pair,,3,3,3,1,,");
	text_clear(&text);
	csv_append(&text, "a\"b\n");
	assert_string_equal(text.data, "\"a\"\"b\n\"");
	/* a spreadsheet would run it */
	text_clear(&text);
	csv_append(&text, "=1+A1");
	assert_string_equal(text.data, "\"'=1+A1\"");
	text_release(&text);
	tuned_release(&fixture.tuned);
}

static void make_is_escaped(void **state)
{
	struct fixture fixture;
	struct text text;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "make");
	assert_holds(
		&text, "_1,$(TILETUNE_ENTRIES)) "); /* a hash of the content, then the number */
	assert_holds(&text, "_0_PROBLEM := M=64 dtype=bf16\n");
	assert_holds(&text, "_0_DEFINES := -DBM=16 -DL_nk=1\n");
	assert_holds(&text, "_0_0_GRID := 4 2 1\n");
	assert_holds(&text, "_1_PROBLEM := k=1 t=a.b\n");
	/* neither make nor the shell of a recipe finds anything in it */
	assert_holds(&text, "_1_1_SOURCE := y_==_.cu___x_____::error::_1\n");
	assert_holds(&text, "_1_LAUNCHES := 0 1\n");
	assert_holds(&text, "_1_1_ENTRY := y\n");
	assert_holds(&text, "_1_1_CLUSTER := 1 1 1\n");
	assert_holds(&text, "_1_DEFINES :=\n"); /* no blank that would count */
	text_release(&text);
	tuned_release(&fixture.tuned);
}

static void c_strings_are_escaped(void **state)
{
	struct fixture fixture;
	struct text text;
	struct error err;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "c-header");
	assert_holds(&text, "#define TILETUNE_DEVICE \"Test \\\"GPU\\\"\"");
	assert_holds(&text, "\"A,64,0.5\", {4, 2, 1}, {128, 1, 1}, {1, 1, 1}, 1024, 1}");
	assert_holds(&text, "\"y]==].cu;$(x)\\\"\\077\\\\\\012::error::#1\"");
	assert_holds(&text, "{7, 1, 1}, {64, 1, 1}, {1, 1, 1}, 0, 3}");
	assert_holds(&text, "12.5, 1, 0ULL, 1, tiletune_launches + 0, 0}");
	assert_holds(&text, "3, 0, 0ULL, 2, tiletune_launches + 1, 0}");
	text_release(&text);
	fixture.source.entry_count = 0;
	assert_fails(export_format_find("c-header")->write(&fixture.source, &text, &err),
		STATUS_BAD_INPUT, "found none");
	tuned_release(&fixture.tuned);
}

static void cmake_holds_the_entries_as_json(void **state)
{
	struct fixture fixture;
	struct text text;
	struct json *tree = NULL;
	struct json_at root, entry, launches;
	const char *begin, *end;
	struct error err;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "cmake");
	begin = strstr(text.data, "[===[\n");
	end = strstr(text.data, "\n]===]");
	assert_true(begin && end && begin < end);
	begin += strlen("[===[\n");
	assert_ok(json_parse(begin, (size_t)(end - begin), "cmake", &tree, &err));
	root = json_root(tree, "cmake");
	assert_int_equal(json_count(&root), 2);
	entry = json_item(&root, 0);
	assert_string_equal(string_of(&entry, "defines"), "BM=16;L_nk=1");
	entry = json_item(&root, 1);
	assert_true(json_find(&entry, "launches", &launches));
	assert_int_equal(json_count(&launches), 2);
	entry = json_item(&launches, 1); /* its "]==]" ended nothing */
	assert_true(string_starts_with(string_of(&entry, "source"), "y]==].cu"));
	json_free(tree);
	text_release(&text);
	tuned_release(&fixture.tuned);
}

/* ---- JSON ---- */
static struct json *parsed(const struct text *text)
{
	struct json *tree = NULL;
	struct error err;

	assert_ok(json_parse(text->data, text->length, "t4", &tree, &err));
	return tree;
}

static void t4_of_a_tuned_file(void **state)
{
	struct fixture fixture;
	struct text text;
	struct json *tree;
	struct json_at root, results, first, second, times, runtimes, value;
	double ms = 0;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "t4");
	tree = parsed(&text);
	root = json_root(tree, "t4");
	assert_string_equal(string_of(&root, "schema_version"), "1.0.0");
	assert_true(json_find(&root, "results", &results));
	assert_int_equal(json_count(&results), 2);
	first = json_item(&results, 0);
	second = json_item(&results, 1);
	assert_string_equal(string_of(&first, "timestamp"), "2026-01-31T12:00:00Z");
	assert_true(number_of(&first, "correctness") == 1);
	assert_true(number_of(&second, "correctness") == 0); /* nobody verified it */
	assert_true(json_find(&first, "times", &times));
	assert_true(json_find(&times, "runtimes", &runtimes));
	value = json_item(&runtimes, 0);
	assert_int_equal(json_get_double(&value, &ms, NULL), STATUS_OK);
	assert_true(ms > 0.01249 && ms < 0.01251);
	/* a prediction is no run */
	assert_true(json_find(&second, "times", &times));
	assert_true(json_find(&times, "runtimes", &runtimes));
	assert_int_equal(json_count(&runtimes), 0);
	assert_holds(&text, "predicted_time");
	json_free(tree);
	text_release(&text);
	tuned_release(&fixture.tuned);
}

static double metric_of(const struct json_at *benchmark, const char *measure, const char *member)
{
	struct json_at metric;

	assert_true(json_find(benchmark, measure, &metric));
	return number_of(&metric, member);
}

static void bencher_is_in_nanoseconds(void **state)
{
	struct fixture fixture;
	struct text text;
	struct json *tree;
	struct json_at root, first, second;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "bencher");
	tree = parsed(&text);
	root = json_root(tree, "bencher");
	assert_int_equal(json_count(&root), 2);
	assert_true(json_find(&root, "gemm M=64,dtype=bf16", &first));
	assert_true(fabs(metric_of(&first, "latency", "value") - 12500) < 1e-6);
	assert_true(fabs(metric_of(&first, "latency", "lower_value") - 12000) < 1e-6);
	assert_true(fabs(metric_of(&first, "latency", "upper_value") - 13000) < 1e-6);
	/* a prediction is no latency, and has no interval */
	second = json_item(&root, 1);
	assert_false(json_find(&second, "latency", &first));
	assert_true(fabs(metric_of(&second, "predicted-latency", "value") - 3000) < 1e-6);
	assert_true(isnan(metric_of(&second, "predicted-latency", "lower_value")));
	json_free(tree);
	text_release(&text);
	tuned_release(&fixture.tuned);
}

static void github_benchmark_is_a_list(void **state)
{
	struct fixture fixture;
	struct text text;
	struct json *tree;
	struct json_at root, first, second, range;

	(void)state;
	fixture_open(&fixture);
	text = written(&fixture.source, "github-benchmark");
	tree = parsed(&text);
	root = json_root(tree, "github-benchmark");
	assert_int_equal(json_count(&root), 2);
	first = json_item(&root, 0);
	second = json_item(&root, 1);
	assert_string_equal(string_of(&first, "name"), "gemm M=64,dtype=bf16");
	assert_string_equal(string_of(&first, "unit"), "us");
	assert_true(number_of(&first, "value") == 12.5);
	assert_string_equal(string_of(&first, "range"), "± 0.5");
	assert_string_equal(string_of(&first, "extra"), "gemm/a {BM=16,L=nk}");
	assert_non_null(strstr(string_of(&second, "name"), " (predicted)"));
	assert_false(json_find(&second, "range", &range));
	json_free(tree);
	text_release(&text);
	tuned_release(&fixture.tuned);
}

/* Every outcome has its word in T4, and its own when it means something else. */
static void t4_of_a_journal(void **state)
{
	static const struct {
		enum outcome outcome;
		const char *invalidity;
	} cases[] = {
		{OUTCOME_OK, "correct"},
		{OUTCOME_PRUNED_BY_MODEL, "constraints"},
		{OUTCOME_COMPILE_FAILED, "compile"},
		{OUTCOME_COMPILE_TIMEOUT, "compile"},
		{OUTCOME_LAUNCH_FAILED, "runtime"},
		{OUTCOME_CRASHED, "runtime"},
		{OUTCOME_TIMED_OUT, "timeout"},
		{OUTCOME_WRONG_RESULT, "correctness"},
		{OUTCOME_OUT_OF_BOUNDS, "correctness"},
	};
	struct evaluation evaluations[ARRAY_COUNT(cases)] = {0};
	double samples_us[2] = {10, 12};
	struct journal_problem problem = {
		.operation = (char *)(uintptr_t) "gemm", .problem = (char *)(uintptr_t) "M=1"};
	struct journal_run run = {.run = {.date = (char *)(uintptr_t) "2026-01-01"},
		.problems = &problem,
		.problem_count = 1};
	struct journal_record journal = {.runs = &run, .run_count = 1};
	struct export_source source = {.name = "j.jsonl", .journal = &journal};
	struct json *tree;
	struct json_at root, results, first, configuration, times, runtimes;
	struct text text;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		evaluations[i].outcome = cases[i].outcome;
		evaluations[i].family = string_copy("gemm/a");
		evaluations[i].configuration = string_copy("BM=16,L=nk");
	}
	evaluation_add_samples(&evaluations[0], samples_us, 2);
	problem.evaluations = evaluations;
	problem.evaluation_count = ARRAY_COUNT(cases);
	text = written(&source, "t4");
	tree = parsed(&text);
	root = json_root(tree, "t4");
	assert_true(json_find(&root, "results", &results));
	assert_int_equal(json_count(&results), ARRAY_COUNT(cases));
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct json_at result = json_item(&results, i);

		assert_string_equal(string_of(&result, "invalidity"), cases[i].invalidity);
	}
	first = json_item(&results, 0);
	assert_true(json_find(&first, "configuration", &configuration));
	assert_true(number_of(&configuration, "BM") == 16);
	assert_string_equal(string_of(&configuration, "L"), "nk");
	assert_true(json_find(&first, "times", &times));
	assert_true(json_find(&times, "runtimes", &runtimes));
	assert_int_equal(json_count(&runtimes), 2);
	json_free(tree);
	text_release(&text);
	text = written(&source, "csv");
	assert_holds(&text, "\r\ngemm,M=1,search,gemm/a,\"BM=16,L=nk\",ok,11,");
	assert_holds(&text, ",wrong_result,,,,0,measured,");
	text_release(&text);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		evaluation_release(&evaluations[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_is_quoted),
		cmocka_unit_test(make_is_escaped),
		cmocka_unit_test(c_strings_are_escaped),
		cmocka_unit_test(cmake_holds_the_entries_as_json),
		cmocka_unit_test(t4_of_a_tuned_file),
		cmocka_unit_test(bencher_is_in_nanoseconds),
		cmocka_unit_test(github_benchmark_is_a_list),
		cmocka_unit_test(t4_of_a_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
