/* SPDX-License-Identifier: MIT
 *
 * The program of all unit tests: `unit NAME` runs the tests of test_NAME.c.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>

/* Names the group for processes that a test starts from this program. */
static const char group_variable[] = "UNIT_GROUP";

static struct unit_group *groups;

void unit_group_register(struct unit_group *group)
{
	group->next = groups;
	groups = group;
}

/* "score" is the name of "tests/unit/test_score.c". */
static bool has_name(const struct unit_group *group, const char *name)
{
	const char *base = strrchr(group->file, '/');
	const char *start = (base ? base + 1 : group->file) + strlen("test_");

	return strncmp(start, name, strlen(name)) == 0 && strcmp(start + strlen(name), ".c") == 0;
}

static struct unit_group *find(const char *name)
{
	for (struct unit_group *group = groups; name && group; group = group->next)
		if (group->count && has_name(group, name))
			return group;
	return NULL;
}

int main(int argc, char **argv)
{
	struct unit_group *group = find(getenv(group_variable));
	int code = RUN_TESTS;

	if (!group) {
		group = find(argc > 1 ? argv[1] : NULL);
		if (!group) {
			fprintf(stderr, "expected the name of a file of tests, as: unit score\n");
			return 2;
		}
		setenv(group_variable, argv[1], 1);
		argc--;
		argv++;
	}
	if (group->before)
		code = group->before(argc, argv);
	if (code != RUN_TESTS)
		return code;
	if (getenv("TEST"))
		cmocka_set_test_filter(getenv("TEST"));
	return _cmocka_run_group_tests(
		"tests", group->tests, group->count, group->setup, group->teardown);
}
