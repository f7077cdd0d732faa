/* layer: candidate */
/* SPDX-License-Identifier: MIT
 *
 * The catalogue: which files are found, how includes are expanded, what broken files say.
 */
#include "source/source.h"
#include "unit/kernel_fixture.h"

static void test_all(void **state)
{
	static const char *const expected[] = {
		"gadget/plain", "widget/full", "widget/mine", "widget/pair"};
	const char *folders[] = {KERNEL_TEMPLATES, "/nonexistent", TEST_DATA "/kernel/more", NULL};
	struct catalogue catalogue;
	struct error err = {0};

	(void)state;
	assert_ok(catalogue_load(folders, NULL, &catalogue, &err));
	assert_int_equal(catalogue.operation_count, 2);
	assert_string_equal(catalogue.operations[0]->name, "gadget");
	assert_string_equal(catalogue.operations[1]->name, "widget");
	assert_int_equal(catalogue.family_count, ARRAY_COUNT(expected));
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
		assert_string_equal(catalogue.families[i]->name, expected[i]);
	assert_string_equal(catalogue.families[2]->summary, "a user's own");
	assert_ptr_equal(catalogue.families[2]->operation, catalogue.operations[1]);
	assert_false(catalogue.families[1]->step_count);
	assert_true(catalogue.families[3]->step_count);
	catalogue_release(&catalogue);
}

/* Only one operation, and what its composite families need. */
static void test_only(void **state)
{
	const char *folders[] = {KERNEL_TEMPLATES, NULL};
	struct catalogue catalogue;
	struct error err = {0};

	(void)state;
	assert_ok(catalogue_load(folders, "gadget", &catalogue, &err));
	assert_int_equal(catalogue.operation_count, 1);
	assert_int_equal(catalogue.family_count, 1);
	catalogue_release(&catalogue);
	assert_ok(catalogue_load(folders, "widget", &catalogue, &err));
	assert_int_equal(catalogue.operation_count, 2);
	assert_int_equal(catalogue.family_count, 3);
	catalogue_release(&catalogue);
	assert_fails(catalogue_load(folders, "wigdet", &catalogue, &err), STATUS_BAD_INPUT,
		"operation: expected one of those in " KERNEL_TEMPLATES
		" (gadget, widget), found \"wigdet\"");
	assert_string_equal(err.hint, "did you mean \"widget\"?");
	assert_null(catalogue.operations);
	folders[0] = "/nonexistent";
	assert_fails(catalogue_load(folders, "gemm", &catalogue, &err), STATUS_BAD_INPUT,
		"in /nonexistent (none), found \"gemm\"");
}

static void test_lookup(void **state)
{
	const char *folders[] = {KERNEL_TEMPLATES, NULL};
	const struct operation *operation;
	const struct family *family;
	struct catalogue catalogue;
	struct error err = {0};

	(void)state;
	assert_ok(catalogue_load(folders, NULL, &catalogue, &err));
	assert_ok(catalogue_operation(&catalogue, "widget", &operation, &err));
	assert_string_equal(operation->summary, "every feature of the format, computed by nobody");
	assert_int_equal(operation->key_count, 7);
	assert_string_equal(operation->keys[3].name, "out_dtype");
	assert_fails(catalogue_operation(&catalogue, "gadgt", &operation, &err), STATUS_BAD_INPUT,
		"operation: expected one of gadget, widget, found \"gadgt\"");
	assert_ok(catalogue_operation(&catalogue, "widget", &operation, &err));
	assert_ok(catalogue_family(&catalogue, operation, "full", &family, &err));
	assert_string_equal(family->name, "widget/full");
	assert_ok(catalogue_family(&catalogue, NULL, "widget/full", &family, &err));
	assert_ok(catalogue_family(&catalogue, operation, "widget/full", &family, &err));
	assert_fails(catalogue_family(&catalogue, operation, "fulll", &family, &err),
		STATUS_BAD_INPUT, "family: expected one of full, pair, found \"fulll\"");
	assert_string_equal(err.hint, "did you mean \"full\"?");
	assert_fails(catalogue_family(&catalogue, operation, "gadget/plain", &family, &err),
		STATUS_BAD_INPUT, "expected one of widget/full, widget/pair");
	assert_fails(catalogue_family(&catalogue, NULL, "full", &family, &err), STATUS_BAD_INPUT,
		"expected one of gadget/plain, widget/full, widget/pair, found \"full\"");
	catalogue_release(&catalogue);
}

static void hash_in(const char *folder, const char *operation, char digits[HASH_SIZE])
{
	const char *folders[] = {folder, NULL};
	struct hash *hash = hash_new();
	struct catalogue catalogue;
	struct error err = {0};

	assert_ok(catalogue_load(folders, operation, &catalogue, &err));
	catalogue_hash(&catalogue, hash);
	hash_finish(hash, digits);
	catalogue_release(&catalogue);
}

static void hash_of(const char *operation, char digits[HASH_SIZE])
{
	hash_in(KERNEL_TEMPLATES, operation, digits);
}

static void test_hash(void **state)
{
	static const char changed[] = TEST_BUILD "/test-hash-templates";
	char first[HASH_SIZE], second[HASH_SIZE], other[HASH_SIZE];

	(void)state;
	hash_of("widget", first);
	hash_of("widget", second);
	hash_of("gadget", other);
	assert_string_equal(first, second);
	assert_string_not_equal(first, other);
	/* a comment in a family's source is another source */
	assert_int_equal(
		system("rm -rf '" TEST_BUILD "/test-hash-templates' && cp -R '" KERNEL_TEMPLATES
		       "' '" TEST_BUILD "/test-hash-templates'"),
		0);
	hash_in(changed, "widget", second);
	assert_string_equal(first, second);
	assert_int_equal(
		system("echo '// x' >>'" TEST_BUILD "/test-hash-templates/widget/full.cu'"), 0);
	hash_in(changed, "widget", second);
	assert_string_not_equal(first, second);
}

static void test_includes(void **state)
{
	const char *folders[] = {KERNEL_TEMPLATES, NULL};
	struct error err = {0};
	char *source;

	(void)state;
	assert_ok(source_expand(KERNEL_TEMPLATES, "widget/full.cu", folders, NULL, &source, &err));
	assert_string_equal(source, "#line 1 \"widget/full.cu\"\n"
				    "#line 1 \"widget/local.cuh\"\n"
				    "#line 1 \"common/shared.cuh\"\n"
				    "\n"
				    "// shared by all\n"
				    "#line 1 \"common/cycle.cuh\"\n"
				    "#line 2 \"common/cycle.cuh\"\n"
				    "/* a comment that speaks of\n"
				    "#include <nothing.h>\n"
				    "and goes on */\n"
				    "#define CYCLE 1\n"
				    "#line 4 \"common/shared.cuh\"\n"
				    "#define SHARED 1\n"
				    "#line 2 \"widget/local.cuh\"\n"
				    "#define LOCAL 1\n"
				    "#line 2 \"widget/full.cu\"\n"
				    "#line 3 \"widget/full.cu\"\n"
				    "extern \"C\" __global__ void widget_main() {}\n");
	free(source);
}

struct broken_case {
	const char *from, *to, *message;
};

/* Each case changes one place of a good file; the message names file and JSON path. */
static void check_broken(const char *path, const struct broken_case *cases, size_t count,
	const struct operation *operation)
{
	for (size_t i = 0; i < count; i++) {
		char *text = file_with(path, cases[i].from, cases[i].to);
		struct json *tree = NULL;
		struct error err = {0};
		struct operation *made_operation = NULL;
		struct family *made_family = NULL;
		enum status status = json_parse(text, strlen(text), "file.json", &tree, &err);

		if (status == STATUS_OK && operation)
			status = family_from_json(
				tree, "file.json", "full", operation, &made_family, &err);
		else if (status == STATUS_OK)
			status = operation_from_json(
				tree, "file.json", "widget", &made_operation, &err);
		if (status != STATUS_BAD_INPUT || !strstr(err.message, cases[i].message) ||
			strncmp(err.message, "file.json: ", 11) != 0)
			fail_msg("\"%s\" for \"%s\": expected \"%s\", found %d \"%s\"", cases[i].to,
				cases[i].from, cases[i].message, status, err.message);
		assert_null(made_operation);
		assert_null(made_family);
		free(text);
	}
}

static void test_broken_operation(void **state)
{
	static const struct broken_case cases[] = {
		{"operation/1", "operation/2", "$.format: expected \"tiletune.operation/1\""},
		{"\"name\": \"widget\"", "\"name\": \"gizmo\"",
			"$.name: expected \"widget\" as the folder"},
		{"\"flop\"", "\"flops\"", "$.flops: expected a known member"},
		{"3*M*N", "3*M*Q", "$.flop: column 5: expected a known name, found 'Q'"},
		{"3*M*N", "3*M*", "$.flop: column"},
		{"3*M*N", "3*sm_count",
			"$.flop: column 3: expected a known name, found 'sm_count'"},
		{"\"max\": 65536", "\"max\": 0", "$.keys.M: expected a min that is not above max"},
		{"\"max\": 65536", "\"maximum\": 65536",
			"$.keys.M.maximum: expected a known member"},
		{"\"type\": \"int\", \"max\"", "\"type\": \"float\", \"max\"",
			"$.keys.M.type: expected \"int\""},
		{"\"as\": \"constant\"", "\"as\": \"constnt\"",
			"$.keys.H.as: expected \"constant\" (a -D)"},
		{"{\"enum\": [\"nk\", \"kn\"],",
			"{\"enum\": [\"nk\", \"kn\"], \"as\": \"argument\",",
			"$.keys.layout.as: expected \"constant\""},
		{"[\"nk\", \"kn\"]", "[]",
			"$.keys.layout.enum: expected at least 1 element, found []"},
		{"[\"nk\", \"kn\"]", "[\"nk\", \"n k\"]",
			"$.keys.layout.enum[1]: expected a value of letters"},
		{"[\"nk\", \"kn\"]", "[\"nk\", \"nk\"]",
			"$.keys.layout.enum[1]: expected every value once"},
		{"\"'nk'\"", "\"nk\"",
			"$.keys.layout.default: column 1: expected a known name, found 'nk'"},
		{"\"default\": \"N\"", "\"default\": \"ld + 1\"",
			"$.keys.ld.default: expected a default that does not wait for itself"},
		{"\"default\": \"dtype\"}",
			"\"default\": \"dtype if ld > 1 else dtype\"}, \"x\": {\"type\": \"int\", "
			"\"default\": \"x\"}",
			"$.keys.x.default: expected a default that does not wait"},
		{"\"batch,seq\": \"batch*seq\"", "\"M,N\": \"M*N\"",
			"$.keys.M.aliases.M,N: expected a name among them that is no key"},
		{"\"batch,seq\": \"batch*seq\"", "\"batch,seq\": \"batch*M\"",
			"$.keys.M.aliases.batch,seq: column 7"},
		{"\"batch,seq\": \"batch*seq\"", "\"batch,\": \"batch\"",
			"expected a name of letters"},
		{"\"N\": {\"type\": \"int\", \"as\": \"argument\"}",
			"\"sm_count\": {\"type\": \"int\"}",
			"$.keys.sm_count: expected a name that is not the device's"},
		{"\"N\": {\"type\": \"int\", \"as\": \"argument\"}",
			"\"lane\": {\"type\": \"int\"}",
			"$.keys.lane: expected a name that is not the device's or the model's"},
		{"\"N\": {\"type\": \"int\", \"as\": \"argument\"}", "\"max\": {\"type\": \"int\"}",
			"$.keys.max: expected a name of letters, digits and _ (no digit first, "
			"fewer "
			"than 48, no word of expressions)"},
		{"\"why\": \"a row has N elements\"", "\"because\": \"\"",
			"$.constraints[0].because: expected a known member"},
		{"\"role\": \"out\"", "\"role\": \"in\"",
			"$.tensors: expected a tensor of role \"out\" or \"inout\""},
		{"\"role\": \"out\"", "\"role\": \"output\"",
			"$.tensors.Y.role: expected one of \"in\", \"out\", \"inout\""},
		{"\"fill\": [-2, 3]", "\"fill\": [3, 3]",
			"$.tensors.X.fill: expected a lowest below the highest"},
		{"\"fill\": [-2, 3]", "\"fill\": [3]", "$.tensors.X.fill: expected 2 elements"},
		{"\"fill\": [-2, 3]", "\"contents\": \"permutation\"",
			"$.tensors.X.contents: expected integers of 32 or 64 bits"},
		{"\"fill\": [-2, 3]", "\"skew\": 1",
			"$.tensors.X: expected \"of\" where the contents are offsets or counts"},
		{"\"role\": \"out\"", "\"role\": \"out\", \"when\": \"N > 1\"",
			"$.tensors.Y.when: expected no condition on a tensor that is written"},
		{"\"dtype\": \"fp32\", \"role\"", "\"dtype\": \"fp31\", \"role\"",
			"$.tensors.W.dtype: column 1: expected a known name, found 'fp31'"},
		{"[2, \"M\", \"N + H\"]", "[]", "$.tensors.W.shape: expected at least 1 element"},
		{"[2, \"M\", \"N + H\"]", "[2, {}]",
			"$.tensors.W.shape[1]: expected an expression"},
		{"\"W\": {", "\"M\": {", "$.tensors.M: expected a name that is not a key's"},
		{"\"unit\": \"element\",", "", "$.reference: expected a member \"unit\""},
		{"\"unit\": \"element\",", "\"unit\": \"element\", \"file\": \"y.npy\",",
			"$.reference: expected one of \"source\", \"configuration\" and \"file\""},
		{"\"unit\": \"element\",", "\"unit\": \"element\", \"output\": \"X\",",
			"$.reference.output: expected a tensor that is written"},
		{"\"unit\": \"element\"", "\"unit\": \"column\"",
			"$.reference.unit: expected \"element\" or \"row\""},
		{"\"unit_count\", \"expected\"", "\"unit_cont\", \"expected\"",
			"$.reference.args[2]: column 1: expected a known name, found 'unit_cont'"},
		{"\"type\": \"i64\"", "\"type\": \"i63\"",
			"$.reference.args[5].type: expected one of \"i32\", \"i64\", "},
		{"\"rel\": 0.25", "\"rel\": null", "$.tolerance.rel: expected an expression"},
		{"\"pick\": \"argmax\"", "\"pick\": \"best\"",
			"$.rules[0].pick: expected \"first\" or \"argmax\""},
		{"\"set\": {\"TILE\": \"t\"}", "\"set\": {}",
			"$.rules[2].set: expected at least 1 member"},
		{"\"as\": \"rows\"", "\"as\": \"2\"", "$.rules[1].as: expected a name of letters"},
		{"{\"name\": \"when small\",", "{", "$.facts[4]: expected a member \"name\""},
		{"{\"name\": \"when small\",", "{\"names\": 3,",
			"$.facts[4].names: expected a known member"},
		{"\"as\": \"row_bytes\"", "\"as\": \"row bytes\"",
			"$.facts[5].as: expected a name of letters"},
		{"\"as\": \"row_bytes\"", "\"as\": \"row_bytes\", \"when\": \"M < 3\"",
			"$.facts[5].when: expected no condition on a fact that others read by its "
			"name"},
	};

	(void)state;
	check_broken(KERNEL_TEMPLATES "/widget/operation.json", cases, ARRAY_COUNT(cases), NULL);
}

static void test_broken_family(void **state)
{
	static const struct broken_case cases[] = {
		{"family/1", "family/2", "$.format: expected \"tiletune.family/1\""},
		{"\"operation\": \"widget\"", "\"operation\": \"gadget\"",
			"$.operation: expected \"widget\" as the folder"},
		{"\"name\": \"full\"", "\"name\": \"fool\"",
			"$.name: expected \"full\" as the file"},
		{"\"summary\"", "\"summery\"", "$.summery: expected a known member"},
		{"compute_capability >= 90", "BM >= 90",
			"$.requires[0]: column 1: expected a known name, found 'BM'"},
		{"\"[1, 2, 4]\"", "\"[BM]\"",
			"$.parameters.REPEATS.values: column 2: expected a known name"},
		{"\"as\": \"argument\"", "\"as\": \"args\"", "$.parameters.REPEATS.as: expected"},
		{"\"MODE\": [", "\"X\": [", "$.parameters.X: expected a name that no tensor has"},
		{"\"MODE\": [", "\"M\": [", "$.parameters.M: expected a name that no key"},
		{"\"MODE\": [", "\"l2_bytes\": [",
			"$.parameters.l2_bytes: expected a name that no key"},
		{"\"MODE\": \"'plain'\"", "\"MOD\": \"'plain'\"",
			"$.defaults.MOD: expected a known member"},
		{"\"MODE\": \"'plain'\"", "\"MODE\": \"'plain'\", \"MOD\": 1",
			"$.defaults.MOD: expected a known member"},
		{"\"64 if M >= 64 else 16\"", "\"64 if STAGES >= 2 else 16\"",
			"$.defaults.BM: column 7: expected a known name, found 'STAGES'"},
		{"\"32*(BM//16)\"", "\"32*(SCALE//16)\"",
			"$.constants.THREADS: column 5: expected a known name"},
		{"\"32*(BM//16)\"", "{}", "$.constants.THREADS: expected a member \"as\""},
		{"\"32*(BM//16)\"", "{\"value\": \"1\", \"as\": \"argument\"}",
			"$.constants.THREADS.as: expected \"model\""},
		{"\"32*(BM//16)\"", "{\"as\": \"model\"}",
			"$.constants.THREADS: expected a member \"value\""},
		{"\"SCALE\": \"1 / 8\"", "\"BM\": \"1 / 8\"",
			"$.constants.BM: expected a name that no key"},
		{"SMEM <= smem_per_block_bytes", "SMEM <= smem_per_blok_bytes",
			"$.constraints[1].expr (constraint 2, tiles must fit): column 9: expected "
			"a known name, found "
			"'smem_per_blok_bytes'"},
		{"SMEM <= smem_per_block_bytes", "SMEM <= spill_bytes",
			"$.constraints[1].expr (constraint 2, tiles must fit): column 9"},
		{"\"spill_bytes > 16 or stack_bytes > 512\"", "\"lane > 16\"",
			"$.prune[1].expr (prune rule 2, spills): column 1: expected a known name"},
		{"\"init\": \"each\"", "\"init\": \"always\"",
			"$.workspaces[0].init: expected one of \"none\", \"once\", \"each\""},
		{"\"name\": \"partial\"", "\"name\": \"Y\"",
			"$.workspaces[0].name: expected a name that nothing else has"},
		{"\"name\": \"map_w\"", "\"name\": \"map_x\"",
			"$.tensor_maps[1].name: expected a name that nothing else has"},
		{"\"buffer\": \"X\"", "\"buffer\": \"Z\"",
			"$.tensor_maps[0].buffer: expected a tensor or workspace"},
		{"[\"ld*dtype_bytes(dtype)\"]", "[]",
			"$.tensor_maps[0].strides: expected one stride for each of dims but the "
			"first"},
		{"\"box\": [64, \"BM\"]", "\"box\": [64]",
			"$.tensor_maps[0].box: expected one number for each of dims"},
		{"[\"THREADS\", 1, 1]", "[]", "$.launches[0].block: expected at least 1 element"},
		{"\"entry\": \"widget_reduce\"", "\"entry\": \"widget reduce\"",
			"$.launches[1].entry: expected the name of a kernel"},
		{"\"entry\": \"widget_reduce\"", "\"entry\": \"f<{BN}>\"",
			"$.launches[1].entry (entry of launch 2, f<{BN}>): column 1"},
		{"\"entry\": \"widget_reduce\"", "\"entry\": \"f<{BM>\"",
			"$.launches[1].entry: expected the name of a kernel"},
		{"\"parameters\"", "\"options\": [\"-I/etc\"], \"parameters\"",
			"$.options[0]: expected an option that reads and writes no file"},
		{"\"parameters\"",
			"\"options\": [\"--std=c++17\", \"-arch=sm_80\"], \"parameters\"",
			"$.options[1]: expected an option that reads and writes no file"},
		{"\"parameters\"", "\"symbols\": {\"d_x\": \"flags\"}, \"parameters\"",
			"$.symbols.d_x: expected"},
		{"\"parameters\"", "\"options\": [\"-ftz=maybe\"], \"parameters\"",
			"$.options[0]: expected an option"},
		{"\"when\": \"REPEATS > 1\"", "\"when\": \"REPEAT > 1\"",
			"$.launches[1].when (when of launch 2, widget_reduce): column 1"},
		{"\"map_w\", \"Y\"", "\"map_v\", \"Y\"",
			"$.launches[0].args[2] (args of launch 1, widget_main): column 1: expected "
			"a known name, found 'map_v'"},
		{"\"barriers\": 1", "\"barrier\": 1",
			"$.launches[0].model.per_step.barrier: expected a known member"},
		{"\"kind\": \"read\"", "\"kind\": \"load\"",
			"$.launches[0].model.smem_accesses[0].kind: expected \"read\" or "
			"\"write\""},
		{"\"bytes\": \"BM*128\"", "\"bytes\": \"lane\"",
			"$.launches[0].model.smem_accesses[0].bytes (model of launch 1, "
			"widget_main): column 1"},
		{"{\"tensor\": \"W\"", "{\"tensor\": \"partial\"",
			"$.launches[0].model.tiles[1].tensor: expected a tensor of the operation"},
		{"\"schedule\": \"stream_k\"", "\"schedule\": \"stream-k\"",
			"$.launches[1].model.schedule (model of launch 2, widget_reduce): column "
			"1"},
		{"\"max\": \"ceil_div(N, 64)\"", "\"most\": 1",
			"$.launches[0].model.steps.most: expected a known member"},
		{"\"why\": \"three warps\"", "\"reason\": \"\"",
			"$.examples.illegal[0].reason: expected a known member"},
		{", \"why\": \"three warps\"", "",
			"$.examples.illegal[0]: expected a member \"why\""},
		{"\"source\": \"full.cu\",", "", "expected a member \"source\""},
		{"\"launches\": [", "\"steps\": [], \"launches\": [",
			"expected no \"source\" in a family of steps"},
	};
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, KERNEL_TEMPLATES, "widget", NULL, NULL, "", NULL);
	check_broken(
		KERNEL_TEMPLATES "/widget/full.json", cases, ARRAY_COUNT(cases), fixture.operation);
	fixture_close(&fixture);
}

/* What only the file system can break. */
static void test_broken_files(void **state)
{
	char *root = string_format("%s/test-catalogue", TEST_BUILD);
	const char *folders[] = {root, KERNEL_TEMPLATES, NULL};
	struct catalogue catalogue;
	struct error err = {0};
	char *family;

	(void)state;
	family = scratch_file(root, "gadget/broken.json", "{\"format\": \"tiletune.family/1\",");
	assert_fails(catalogue_load(folders, "gadget", &catalogue, &err), STATUS_BAD_INPUT,
		"gadget/broken.json: line 1, column");
	assert_true(string_starts_with(err.message, root));
	free(family);
	family = file_with(KERNEL_TEMPLATES "/gadget/plain.json", "plain.cu", "none.cu");
	free(scratch_file(root, "gadget/broken.json", family));
	assert_fails(catalogue_load(folders, "gadget", &catalogue, &err), STATUS_BAD_INPUT,
		"gadget/broken.json: $.source: expected a file of ");
	free(family);
	family = file_with(KERNEL_TEMPLATES "/gadget/plain.json", "plain.cu", "../../x.cu");
	free(scratch_file(root, "gadget/broken.json", family));
	assert_fails(catalogue_load(folders, "gadget", &catalogue, &err), STATUS_BAD_INPUT,
		"gadget/broken.json: $.source: expected a file of ");
	free(family);
	/* steps of an operation that is not there */
	family = file_with(KERNEL_TEMPLATES "/widget/pair.json", "\"gadget\"", "\"gadgit\"");
	free(scratch_file(root, "widget/other.json", family));
	assert_fails(catalogue_load(folders, "widget", &catalogue, &err), STATUS_BAD_INPUT,
		"widget/other.json: $.steps[0].operation: operation: expected");
	assert_string_equal(err.hint, "did you mean \"gadget\"?");
	free(family);
	free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_only),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_hash),
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_broken_operation),
		cmocka_unit_test(test_broken_family),
		cmocka_unit_test(test_broken_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
