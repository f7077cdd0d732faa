/* SPDX-License-Identifier: MIT */
#include "compile/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that every version of Landlock knows: up to LANDLOCK_ACCESS_FS_MAKE_SYM. */
static const uint64_t all_rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
static const uint64_t file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;

/* What is not there needs no rule. */
static bool allow(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights};
	struct stat info;
	bool is_allowed;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return true;
	if (fstat(rule.parent_fd, &info) != 0 || !S_ISDIR(info.st_mode))
		rule.allowed_access &= file_rights | LANDLOCK_ACCESS_FS_WRITE_FILE;
	is_allowed =
		syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
	close(rule.parent_fd);
	return is_allowed;
}

bool sandbox_enter(char *const *readable, size_t readable_count, const char *writable)
{
	const struct landlock_ruleset_attr attributes = {.handled_access_fs = all_rights};
	const int rules = (int)syscall(
		SYS_landlock_create_ruleset, &attributes, sizeof(attributes.handled_access_fs), 0);
	bool is_entered = rules >= 0;

	for (size_t i = 0; i < readable_count && is_entered; i++)
		is_entered = allow(rules, readable[i], file_rights | LANDLOCK_ACCESS_FS_READ_DIR);
	if (writable && is_entered)
		is_entered = allow(rules, writable, all_rights);
	is_entered = is_entered && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
		     syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	if (rules >= 0)
		close(rules);
	return is_entered;
}
