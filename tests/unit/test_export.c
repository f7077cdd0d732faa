/* Characters that have a meaning in an export format. tests/checks/export.py tests how launches,
 * defines and arguments are written. */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "export/export.h"

/* A file with two entries. The second has two launches and text that needs quoting everywhere. */
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
	char path[] = TEST_SCRATCH "/test_export_XXXXXX";
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

static void assert_holds(const struct text *text, const char *expected)
{
	if (!strstr(text_string(text), expected))
		fail_msg("expected \"%s\" in:\n%s", expected, text_string(text));
}

/* Text that make or a recipe's shell would misread is refused, never altered. */
TEST(make_refuses_what_it_cannot_hold)
{
	struct fixture fixture;
	struct text text = {0};
	struct error err = {0};
	struct tuned_launch *launch;

	fixture_open(&fixture);
	launch = &fixture.tuned.entries[1].winner.launches[1];
	assert_fails(export_format_find("make")->write(&fixture.source, &text, &err),
		STATUS_BAD_INPUT, "odd k=1,t=a.b: SOURCE \"y]==].cu;");
	assert_non_null(strstr(err.message, "contains the character ']'"));
	text_clear(&text);
	free(launch->source);
	launch->source = string_copy("y.cu");
	free(launch->entry);
	launch->entry = string_copy("y<1>");
	assert_fails(export_format_find("make")->write(&fixture.source, &text, &err),
		STATUS_BAD_INPUT,
		"odd k=1,t=a.b: ENTRY \"y<1>\" contains the character '<', which this format "
		"cannot express");
	text_clear(&text);
	launch->entry[1] = '\0';
	text = written(&fixture.source, "make");
	assert_holds(&text, "_1_DEFINES :=\n"); /* no trailing blank, because it would become part
						   of the value */
	text_release(&text);
	tuned_release(&fixture.tuned);
}

/* List items that CMake would split or join. */
TEST(cmake_refuses_what_its_lists_cannot_hold)
{
	static const char *const options[] = {"-DX=a;b", "-DX=[", "-DX=]", "-DX=\\"};
	char *list[] = {NULL, NULL};

	for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
		struct fixture fixture;
		struct text text = {0};
		struct error err = {0};

		fixture_open(&fixture);
		list[0] = string_copy(options[i]);
		fixture.tuned.entries[0].winner.options = list;
		assert_fails(export_format_find("cmake")->write(&fixture.source, &text, &err),
			STATUS_BAD_INPUT, "gemm M=64,dtype=bf16: option \"-DX=");
		fixture.tuned.entries[0].winner.options = NULL;
		free(list[0]);
		text_release(&text);
		tuned_release(&fixture.tuned);
	}
}

TEST(c_strings_are_escaped)
{
	struct fixture fixture;
	struct text text;
	struct error err;

	fixture_open(&fixture);
	text = written(&fixture.source, "c-header");
	assert_holds(&text, "#define TILETUNE_DEVICE \"Test \\\"GPU\\\"\"");
	assert_holds(&text, "\"y]==].cu;$(x)\\\"\\077\\\\\\012::error::#1\"");
	text_release(&text);
	fixture.source.entry_count = 0;
	assert_fails(export_format_find("c-header")->write(&fixture.source, &text, &err),
		STATUS_BAD_INPUT, "there are no entries to export");
	tuned_release(&fixture.tuned);
}

TEST(cmake_holds_the_entries_as_json)
{
	struct fixture fixture;
	struct text text;
	struct json *tree = NULL;
	struct json_at root, entry, launches;
	const char *begin, *end;
	struct error err;

	fixture_open(&fixture);
	text = written(&fixture.source, "cmake");
	begin = strstr(text.data, "[===[\n");
	end = strstr(text.data, "\n]===]");
	assert_true(begin && end && begin < end);
	begin += strlen("[===[\n");
	assert_ok(json_parse(begin, (size_t)(end - begin), "cmake", &tree, &err));
	root = json_root(tree, "cmake");
	entry = json_item(&root, 1);
	assert_true(json_find(&entry, "launches", &launches));
	assert_int_equal(json_count(&launches), 2);
	entry = json_item(
		&launches, 1); /* the "]==]" in the text did not end the bracket argument */
	assert_true(string_starts_with(string_of(&entry, "source"), "y]==].cu"));
	json_free(tree);
	text_release(&text);
	tuned_release(&fixture.tuned);
}
