/* SPDX-License-Identifier: MIT
 *
 * The catalogue: which files it finds, how includes are expanded, and its messages about broken
 * files.
 */
#include "unit/unit.h"
#include "source/source.h"
#include "unit/kernel_fixture.h"

TEST(folders_add_operations_and_families)
{
	static const char *const expected[] = {"gadget/plain", "widget/full", "widget/mine"};
	const char *folders[] = {KERNEL_TEMPLATES, "/nonexistent", TEST_DATA "/kernel/more", NULL};
	struct catalogue catalogue;
	struct error err = {0};

	assert_ok(catalogue_load(folders, NULL, &catalogue, &err));
	assert_int_equal(catalogue.operation_count, 2);
	assert_string_equal(catalogue.operations[0]->name, "gadget");
	assert_string_equal(catalogue.operations[1]->name, "widget");
	assert_int_equal(catalogue.family_count, ARRAY_COUNT(expected));
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
		assert_string_equal(catalogue.families[i]->name, expected[i]);
	assert_string_equal(catalogue.families[2]->summary, "a user's own");
	assert_ptr_equal(catalogue.families[2]->operation, catalogue.operations[1]);
	catalogue_release(&catalogue);
}

/* Loads a single operation. */
TEST(a_single_operation_is_loaded_alone)
{
	const char *folders[] = {KERNEL_TEMPLATES, NULL};
	struct catalogue catalogue;
	struct error err = {0};

	assert_ok(catalogue_load(folders, "gadget", &catalogue, &err));
	assert_int_equal(catalogue.operation_count, 1);
	assert_int_equal(catalogue.family_count, 1);
	catalogue_release(&catalogue);
	assert_fails(catalogue_load(folders, "wigdet", &catalogue, &err), STATUS_BAD_INPUT,
		"unknown operation \"wigdet\"; the template folders (" KERNEL_TEMPLATES
		") have: gadget, widget");
	assert_string_equal(err.hint, "did you mean \"widget\"?");
	assert_null(catalogue.operations);
	folders[0] = "/nonexistent";
	assert_fails(catalogue_load(folders, "gemm", &catalogue, &err), STATUS_BAD_INPUT,
		"unknown operation \"gemm\"; the template folders (/nonexistent) have: none");
}

TEST(operations_and_families_are_found_by_name)
{
	const char *folders[] = {KERNEL_TEMPLATES, NULL};
	const struct operation *operation;
	const struct family *family;
	struct catalogue catalogue;
	struct error err = {0};

	assert_ok(catalogue_load(folders, NULL, &catalogue, &err));
	assert_ok(catalogue_operation(&catalogue, "widget", &operation, &err));
	assert_string_equal(operation->summary, "every feature of the format, computed by nobody");
	assert_int_equal(operation->key_count, 7);
	assert_string_equal(operation->keys[3].name, "out_dtype");
	assert_fails(catalogue_operation(&catalogue, "gadgt", &operation, &err), STATUS_BAD_INPUT,
		"unknown operation \"gadgt\"; known names: gadget, widget");
	assert_ok(catalogue_operation(&catalogue, "widget", &operation, &err));
	assert_ok(catalogue_family(&catalogue, operation, "full", &family, &err));
	assert_string_equal(family->name, "widget/full");
	assert_ok(catalogue_family(&catalogue, NULL, "widget/full", &family, &err));
	assert_ok(catalogue_family(&catalogue, operation, "widget/full", &family, &err));
	assert_fails(catalogue_family(&catalogue, operation, "fulll", &family, &err),
		STATUS_BAD_INPUT, "unknown family \"fulll\"; known names: full");
	assert_string_equal(err.hint, "did you mean \"full\"?");
	assert_fails(catalogue_family(&catalogue, operation, "gadget/plain", &family, &err),
		STATUS_BAD_INPUT, "known names: widget/full");
	assert_fails(catalogue_family(&catalogue, NULL, "full", &family, &err), STATUS_BAD_INPUT,
		"unknown family \"full\"; known names: gadget/plain, widget/full");
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

TEST(the_hash_covers_the_templates_of_an_operation)
{
	static const char changed[] = TEST_BUILD "/test-hash-templates";
	char first[HASH_SIZE], second[HASH_SIZE], other[HASH_SIZE];

	hash_of("widget", first);
	hash_of("widget", second);
	hash_of("gadget", other);
	assert_string_equal(first, second);
	assert_string_not_equal(first, other);
	/* a comment changes the source, too */
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

/* Tests the order in which a family inherits members from the one that it extends. */
TEST(a_family_inherits_members_in_order)
{
	static const char folder[] = TEST_BUILD "/test-extends-templates";
	static const char text[] =
		"{\"format\": \"tiletune.family/1\", \"operation\": \"widget\", \"summary\": \"\","
		"\"extends\": \"full\", \"parameters\": {\"STAGES\": [2, 4], \"TURNS\": [1, 2]},"
		"\"constants\": {\"WIDE\": \"SMEM*TURNS\"}, \"prune\": [],"
		"\"constraints\": [{\"expr\": \"BM > 16\", \"why\": \"tiles must fit\"}],"
		"\"workspaces\": [{\"name\": \"more\", \"bytes\": 8}, {\"name\": \"flags\", "
		"\"bytes\": 16}],"
		"\"launches\": [{\"entry\": \"widget_main\", \"model\": {\"stages\": 7}}]}";
	static const char *const parameters[] = {
		"TURNS", "BM", "MODE", "STAGES", "REPEATS", "ALIGNED"};
	const char *folders[] = {folder, NULL};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	const struct family *base, *family;
	struct error err = {0};

	assert_int_equal(system("rm -rf '" TEST_BUILD "/test-extends-templates' && cp -R "
				"'" KERNEL_TEMPLATES "' '" TEST_BUILD "/test-extends-templates'"),
		0);
	assert_ok(file_write(
		TEST_BUILD "/test-extends-templates/widget/child.json", text, strlen(text), &err));
	assert_ok(catalogue_load(folders, "widget", &catalogue, &err));
	assert_ok(catalogue_family(&catalogue, NULL, "widget/full", &base, &err));
	assert_ok(catalogue_family(&catalogue, NULL, "widget/child", &family, &err));
	assert_int_equal(family->parameter_count, ARRAY_COUNT(parameters));
	for (size_t i = 0; i < ARRAY_COUNT(parameters); i++)
		assert_string_equal(family->parameters[i].name, parameters[i]);
	assert_int_equal(family->constant_count, base->constant_count + 1);
	assert_string_equal(family->constants[base->constant_count].name, "WIDE");
	assert_int_equal(family->constraints.count, base->constraints.count);
	assert_string_equal(family->constraints.items[0].why, "tiles must fit");
	assert_string_equal(family->constraints.items[1].why, base->constraints.items[0].why);
	assert_int_equal(family->prune.count, base->prune.count);
	assert_int_equal(family->workspace_count, 3);
	assert_string_equal(family->workspaces[0].name, "more");
	assert_string_equal(family->workspaces[1].name, "flags");
	assert_int_equal(family->workspaces[1].init, base->workspaces[1].init);
	assert_string_equal(family->workspaces[2].name, "partial");
	assert_int_equal(family->launch_count, base->launch_count);
	assert_int_equal(family->launches[0].arguments.count, base->launches[0].arguments.count);
	assert_string_equal(family->launches[1].entry.text, base->launches[1].entry.text);
	assert_int_equal(family->examples.legal_count, 0);
	assert_string_equal(family->sources[0].text, base->sources[0].text);
}

TEST(includes_are_expanded_from_the_folders)
{
	const char *folders[] = {KERNEL_TEMPLATES, NULL};
	struct error err = {0};
	char *source;

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
