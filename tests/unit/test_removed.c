/* Every row of what was removed is answered with its sentence by the program itself. */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "format/removed.h"

/* What a user would type for a row: FOLDER is one that exists, and a file's format is validated. */
static char *command_of(const struct removed *row, const char *file)
{
	static const char *const several[] = {"tune", "explain", "advise", "check", "export"};
	const char *folder = strstr(row->what, "FOLDER");

	if (string_starts_with(row->what, "tiletune.")) {
		CLEANUP(memory_free)
		char *content = string_format("{\"format\": \"%s\"}\n", row->what);
		struct error err = {0};

		assert_ok(file_write(file, content, strlen(content), &err));
		return string_format("validate %s", file);
	}
	if (folder && string_starts_with(row->what, "lookup"))
		return string_copy("lookup . gemm -p M=64,N=64,K=64,dtype=fp16");
	if (folder)
		return string_format("%.*s. gemm -p M=64,N=64,K=64,dtype=fp16 -o /dev/null "
				     "--device model:h200-sxm",
			(int)(folder - row->what), row->what);
	if (strstr(row->what, " -p "))
		return string_format("tune %s.json --dry-run", row->what);
	if (row->what[0] == '-')
		return string_format("%s %s x", several[strlen(row->what) % 5], row->what);
	return string_format("%s x", row->what);
}

/* Whether the program still has what the row says is gone: then no sentence is due. */
static bool is_answered(const struct removed *row, const char *file)
{
	CLEANUP(memory_free) char *arguments = command_of(row, file);
	CLEANUP(memory_free)
	char *line = string_format(TEST_BINARY " %s 2>&1 </dev/null", arguments);
	char output[4096];
	FILE *pipe = popen(line, "r");
	size_t length;
	int status;

	assert_non_null(pipe);
	length = fread(output, 1, sizeof(output) - 1, pipe);
	output[length] = 0;
	status = pclose(pipe);
	if (strstr(output, row->instead)) {
		assert_int_equal(WEXITSTATUS(status), STATUS_BAD_INPUT);
		return true;
	}
	print_message("%s: %s", arguments, output);
	return false;
}

TEST(rows_are_answered)
{
	char file[] = TEST_SCRATCH "/removed-XXXXXX";
	int descriptor = mkstemp(file);
	size_t missing = 0;

	assert_true(descriptor >= 0);
	close(descriptor);
	for (const struct removed *row = removed_table; row->what; row++)
		missing += !is_answered(row, file);
	unlink(file);
	assert_int_equal(missing, 0);
}
