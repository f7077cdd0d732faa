#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"

TEST(text_grows_and_stays_terminated)
{
	struct text text = {0};

	assert_string_equal(text_string(&text), "");
	for (int i = 0; i < 1000; i++)
		text_appendf(&text, "%03d,", i);
	assert_int_equal(text.length, 4000);
	assert_int_equal(strlen(text.data), 4000);
	assert_memory_equal(text.data + 3996, "999,", 5);
	text_clear(&text);
	assert_string_equal(text_string(&text), "");
	text_append_bytes(&text, "a\0b", 3);
	assert_int_equal(text.length, 3);
	char *detached = text_detach(&text);

	assert_memory_equal(detached, "a\0b", 4);
	assert_null(text.data);
	free(detached);
	detached = text_detach(&text);
	assert_string_equal(detached, "");
	free(detached);
}

TEST(nearest_name_finds_typing_errors_only)
{
	static const char *const names[] = {"gemm", "attention", "gemm_chain", "row_softmax", NULL};

	static const char *const sheets[] = {"b200", "h100-sxm", "h200-sxm", NULL};
	static const char *const dtypes[] = {"fp32", "tf32", "fp16", "bf16", "fp8_e4m3", NULL};

	assert_string_equal(name_nearest("gem", names), "gemm");
	assert_string_equal(name_nearest("gmem", names), "gemm");
	assert_string_equal(name_nearest("GEMM", names), "gemm");
	assert_string_equal(name_nearest("atention", names), "attention");
	assert_string_equal(name_nearest("attn", names) ? "found" : "none", "none");
	assert_string_equal(name_nearest("row_", names), "row_softmax");
	assert_null(name_nearest("convolution", names));
	assert_string_equal(name_nearest("H200", sheets), "h200-sxm");
	assert_null(name_nearest("h300", sheets));
	assert_string_equal(name_nearest("bfloat16", dtypes), "bf16");
	assert_string_equal(name_nearest("float16", dtypes), "fp16");
	assert_string_equal(name_nearest("fp8", dtypes), "fp8_e4m3");
	assert_null(name_nearest("fp64", dtypes));
	assert_null(name_nearest("", names));
}

TEST(no_line_of_a_message_is_a_command_of_a_ci)
{
	struct text text = {0};

	text_append_shown(&text, "a::b\n::warning::x\n \t::error::y\r\n:", "\n\t");
	assert_string_equal(text.data, "a::b\n\\x3a:warning::x\n \t\\x3a:error::y\\x0d\n:");
	text_release(&text);
}

TEST(ratios_and_durations_have_units)
{
	struct error err = {0};
	double value;

	assert_ok(text_parse_ratio("5%", &value, &err));
	assert_true(value > 0.0499999 && value < 0.0500001);
	assert_ok(text_parse_ratio("0.25", &value, &err));
	assert_true(value > 0.2499999 && value < 0.2500001);
	assert_ok(text_parse_duration("1.5m", &value, &err));
	assert_true(value > 89.999 && value < 90.001);
	assert_ok(text_parse_duration("500ms", &value, &err));
	assert_true(value > 0.4999 && value < 0.5001);
	assert_fails(
		text_parse_duration("5 parsecs", &value, &err), STATUS_BAD_INPUT, "a duration");
	assert_fails(text_parse_ratio("-5%", &value, &err), STATUS_BAD_INPUT, "a ratio");
	assert_fails(text_parse_ratio("nan", &value, &err), STATUS_BAD_INPUT, "a ratio");
	assert_fails(text_parse_ratio("5", &value, &err), STATUS_BAD_INPUT, "with %");
	assert_fails(text_parse_ratio("1", &value, &err), STATUS_BAD_INPUT, "with %");
	assert_fails(text_parse_duration("30", &value, &err), STATUS_BAD_INPUT, "its unit");
	assert_fails(text_parse_ratio("", &value, &err), STATUS_BAD_INPUT, "a ratio");
	assert_fails(text_parse_duration("1e300s", &value, &err), STATUS_BAD_INPUT, "a duration");
}

TEST(errors_gather_context)
{
	struct error err = {0};
	char long_text[4096];

	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	assert_int_equal(
		error_set(&err, STATUS_BAD_INPUT, "expected %d, found %d", 1, 2), STATUS_BAD_INPUT);
	error_hint(&err, "try %s", "three");
	assert_int_equal(error_context(&err, "file %s", "a.json"), STATUS_BAD_INPUT);
	assert_string_equal(err.message, "file a.json: expected 1, found 2");
	assert_string_equal(err.hint, "try three");
	error_context(&err, "%s", long_text);
	assert_true(strlen(err.message) < sizeof(err.message));
	assert_int_equal(error_set(NULL, STATUS_FAILED, "nobody listens"), STATUS_FAILED);
}

TEST(hashes_separate_their_parts)
{
	char a[HASH_SIZE], b[HASH_SIZE], c[HASH_SIZE];
	struct hash *hash = hash_new();

	hash_add_string(hash, "ab");
	hash_add_string(hash, "c");
	hash_finish(hash, a);
	hash = hash_new();
	hash_add_string(hash, "a");
	hash_add_string(hash, "bc");
	hash_finish(hash, b);
	hash = hash_new();
	hash_add(hash, "ab", 2);
	hash_add(hash, "c", 1);
	hash_finish(hash, c);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	assert_string_equal(a, c);
}

TEST(durations_read_well)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0.85, "850 ms"}, {0.9994, "999 ms"}, {0.9996, "1.0 s"}, {1, "1.0 s"},
		{59.94, "59.9 s"}, {59.96, "1m 00s"}, {63, "1m 03s"}, {3599.4, "59m 59s"},
		{3599.7, "1h 00m"}, {7380, "2h 03m"}};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		clock_format_duration(cases[i].seconds, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

TEST(random_numbers_repeat_and_stay_in_bounds)
{
	struct random_state a, b;
	size_t items[100], seen[100] = {0};

	random_seed(&a, 42);
	random_seed(&b, 42);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = random_below(&a, 7);

		assert_true(value < 7);
		assert_true(value == random_below(&b, 7));
	}
	for (size_t i = 0; i < 100; i++)
		items[i] = i;
	random_shuffle(&a, items, 100);
	for (size_t i = 0; i < 100; i++)
		seen[items[i]]++;
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(seen[i], 1);
}
