/* SPDX-License-Identifier: MIT
 *
 * Defaults for members that an own kernel omits, and elements and scalars of every type.
 */
#include <math.h>

#include "unit/unit.h"
#include "base/file.h"
#include "candidate/array_file.h"
#include "candidate/bound_family.h"
#include "candidate/candidate_work.h"
#include "unit/kernel_fixture.h"

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
		fail_msg("expected %.17g, found %.17g", expected, found);
}

/* An operation and a family need only the required members. */
TEST(the_required_members_suffice)
{
	static const char operation_text[] =
		"{\"format\": \"tiletune.operation/1\", \"name\": \"add\", \"summary\": \"\","
		"\"keys\": {\"n\": {\"type\": \"int\", \"min\": 1}, "
		"\"dtype\": {\"enum\": [\"float\", \"half\"], \"default\": \"'float'\"}},"
		"\"tensors\": {\"A\": {\"shape\": [\"n\"], \"dtype\": \"fp32\", \"role\": \"in\"},"
		"\"B\": {\"shape\": [2, \"n\"], \"dtype\": \"fp16\", \"role\": \"out\"}},"
		"\"reference\": {\"source\": \"reference.cu\", \"entry\": \"r\", \"unit\": "
		"\"element\","
		"\"units_per_block\": 1, \"block\": 1, \"args\": []},"
		"\"tolerance\": {\"abs\": 0, \"rel\": 0}}";
	static const char family_text[] =
		"{\"format\": \"tiletune.family/1\", \"operation\": \"add\", \"summary\": \"\","
		"\"source\": \"add.cu\", \"launches\": [{\"entry\": \"add\", \"grid\": [\"n\", 2, "
		"1],"
		"\"block\": [64, 1, 1], \"args\": [\"A\", \"B\"]},"
		"{\"entry\": \"add\", \"grid\": [1, 1, 1], \"block\": [32, 1, 1], \"repeat\": 3,"
		"\"args\": []}]}";
	struct fixture fixture;
	struct operation *operation;
	struct family *family;
	struct problem_list problems = {0};
	struct bound_family *bound;
	struct value values[64] = {0};
	struct json *tree;
	struct work work;
	struct error err = {0};
	double flop, bytes;

	fixture_open(&fixture, KERNEL_TEMPLATES, "widget", NULL, NULL, "",
		NULL); /* only the context's device is used */
	assert_ok(json_parse(operation_text, strlen(operation_text), "o", &tree, &err));
	assert_ok(operation_load(tree, "o", NULL, "add", NULL, &operation, &err));
	assert_ok(json_parse(family_text, strlen(family_text), "f", &tree, &err));
	assert_ok(family_load(tree, "f", NULL, "plain", operation, NULL, &family, &err));
	assert_ok(problem_parse(operation, "n=1000", &problems, &err));
	assert_ok(problem_flop(problems.items[0], &flop, &err));
	assert_ok(problem_min_bytes(problems.items[0], &bytes, &err));
	assert_near(flop, 0);
	assert_near(bytes, 1000 * 4 + 2 * 1000 * 2);
	assert_ok(family_bind(family, problems.items[0], fixture.device, NULL, &bound, &err));
	assert_ok(space_values(bound->space, (const choice[]){0}, values, &err));
	bound->model.flop = 6000;
	assert_ok(candidate_work(bound, values, &work, &err));
	assert_int_equal(work.launch_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct launch_work *launch = &work.launches[i];

		/* The two launches share the FLOP, which tensor cores may compute. The second
		 * one has no tensor. */
		assert_false(launch->has_model);
		assert_near(launch->units, i ? 1 : 2000);
		assert_near(
			launch->prologue[PIPE_TENSOR_WGMMA] * launch->units * (i ? 3 : 1), 3000);
		assert_near(launch->dram_read_bytes, i ? 0 : bytes);
		assert_int_equal(launch->dtype, DTYPE_FP16);
	}
	work_release(&work);
	bound_family_free(bound);
	problem_list_release(&problems);
	family_free(family);
	operation_free(operation);
	fixture_close(&fixture);
}

/* Values are rounded to nearest, ties to even. Values that are too large become infinite, or the
 * maximum of fp8_e4m3. */
TEST(values_are_rounded_to_the_dtype)
{
	static const struct {
		enum dtype dtype;
		double value;
		uint64_t bits;
	} cases[] = {
		{DTYPE_FP64, -0.75, 0xbfe8000000000000u},
		{DTYPE_FP32, 0.1, 0x3dcccccd},
		{DTYPE_TF32, 1 + 0x1p-11, 0x3f800000},
		{DTYPE_TF32, 1 + 3 * 0x1p-11, 0x3f804000},
		{DTYPE_FP16, 65504, 0x7bff},
		{DTYPE_FP16, 65520, 0x7c00},
		{DTYPE_FP16, -0x1p-24, 0x8001},
		{DTYPE_FP16, 0x1p-25, 0},
		{DTYPE_FP16, NAN, 0x7fff},
		{DTYPE_BF16, 1 + 0x1p-8, 0x3f80},
		{DTYPE_BF16, 1 + 3 * 0x1p-8, 0x3f82},
		{DTYPE_FP8_E4M3, 448, 0x7e},
		{DTYPE_FP8_E4M3, 1000, 0x7e},
		{DTYPE_FP8_E4M3, -0x1p-9, 0x81},
		{DTYPE_FP8_E4M3, 0.75, 0x34},
		{DTYPE_FP8_E5M2, 57344, 0x7b},
		{DTYPE_FP8_E5M2, 61440, 0x7c},
		{DTYPE_FP8_E5M2, 0.75, 0x3a},
		{DTYPE_I8, -1, UINT64_MAX},
		{DTYPE_U8, 200, 200},
		{DTYPE_U64, 0x1p63, 0x8000000000000000u},
		{DTYPE_BOOL, 7, 1},
		{DTYPE_BOOL, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const uint64_t bits = dtype_bits(cases[i].dtype, cases[i].value);

		if (bits != cases[i].bits)
			fail_msg("%s %g: expected %llx, found %llx", dtype_names[cases[i].dtype],
				cases[i].value, (unsigned long long)cases[i].bits,
				(unsigned long long)bits);
	}
}

/* Elements computed from an expression over the index and the keys. */
TEST(elements_are_computed_from_an_expression)
{
	const struct plan_buffer shorts = {
		.name = "X", .dtype = DTYPE_I16, .rows = 2, .columns = 3, .ld = 5};
	const struct plan_buffer large = {
		.name = "X", .dtype = DTYPE_U8, .rows = 1 << 12, .columns = 1 + (1 << 12)};
	const int16_t expected[] = {0, -7, -14, -21, -28, -35};
	struct named_values keys = named_values_new(1);
	struct text elements;
	struct error err = {0};

	named_values_put(&keys, 0, "n", value_int(7));
	assert_ok(array_compute("-n*index", &keys, &shorts, &elements, &err));
	assert_int_equal(elements.length, sizeof(expected));
	assert_memory_equal(elements.data, expected, sizeof(expected));
	text_release(&elements);
	assert_fails(array_compute("index/2", &keys, &shorts, &elements, &err), STATUS_BAD_INPUT,
		"X: column 1: expected an integer");
	assert_fails(array_compute("1", &keys, &large, &elements, &err), STATUS_BAD_INPUT,
		"X: an expression fills at most 16777216 elements, but the tensor has 16781312");
	named_values_release(&keys);
}

/* An incomplete header is never read past its end (SAN=address detects it). */
TEST(npy_headers_that_end_early_are_refused)
{
	static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 8), }";
	static const char path[] = TEST_SCRATCH "/early.npy";
	const struct plan_buffer tensor = {
		.name = "x", .dtype = DTYPE_FP32, .rows = 1, .columns = 8};

	for (size_t length = 2; length < strlen(header); length++) {
		struct text content = {0}, elements = {0};
		struct error err = {0};

		text_append_bytes(&content, "\x93NUMPY\1\0", 8);
		text_append_char(&content, (char)length);
		text_append_char(&content, 0);
		text_append_bytes(&content, header, length);
		assert_ok(file_write(path, content.data, content.length, &err));
		text_release(&content);
		if (array_file_read(path, &tensor, &elements, &err) == STATUS_OK)
			fail_msg("%zu bytes of a header were read as one", length);
	}
	remove(path);
}

/* A scalar argument must fit its type. */
TEST(a_scalar_must_fit_its_type)
{
	static const struct {
		enum argument_kind kind;
		const char *text;
		uint64_t bits;
		const char *message; /* NULL for a valid number */
	} cases[] = {
		{ARGUMENT_INT8, "-128", (uint64_t)-128, NULL},
		{ARGUMENT_INT8, "128", 0, "expected i8, found 128"},
		{ARGUMENT_UINT8, "255", 255, NULL},
		{ARGUMENT_UINT8, "-1", 0, "expected u8, found -1"},
		{ARGUMENT_UINT16, "65536", 0, "expected u16, found 65536"},
		{ARGUMENT_UINT32, "2**32-1", 0xffffffff, NULL},
		{ARGUMENT_UINT64, "2**62", (uint64_t)1 << 62, NULL},
		{ARGUMENT_BOOL, "3 > 2", 1, NULL},
		{ARGUMENT_FLOAT64, "0.1", 0x3fb999999999999au, NULL},
		{ARGUMENT_FLOAT16, "1/2", 0x3800, NULL},
		{ARGUMENT_BFLOAT16, "1/2", 0x3f00, NULL},
		{ARGUMENT_FLOAT32, "1/2", 0x3f000000, NULL},
		{ARGUMENT_INT32, "2**31", 0,
			"expected an int32 (i64 holds larger numbers), found 2147483648"},
	};
	struct expression_reading reading = {0};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CLEANUP(memory_free)
		char *text = string_format("[{\"value\": \"%s\", \"type\": \"%s\"}]", cases[i].text,
			argument_kind_names[cases[i].kind]);
		struct argument_list list = {0};
		struct plan_launch launch = {0};
		struct json *tree;
		struct json_at at;
		struct error err = {0};

		assert_ok(json_parse(text, strlen(text), "args", &tree, &err));
		at = json_root(tree, "args");
		assert_ok(argument_list_member.read(&at, &list, &reading, &err));
		if (cases[i].message) {
			assert_fails(arguments_evaluate(&list, NULL, &launch, &err),
				STATUS_BAD_INPUT, cases[i].message);
		} else {
			assert_ok(arguments_evaluate(&list, NULL, &launch, &err));
			assert_true(plan_argument_bits(&launch.arguments[0]) == cases[i].bits);
		}
		free(launch.arguments);
		argument_list_member.release(&list);
		json_free(tree);
	}
}
