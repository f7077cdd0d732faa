#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

static char folder[] = TEST_SCRATCH "/tiletune-file-XXXXXX";

static char *in_folder(const char *name)
{
	return path_join(folder, name);
}

static int make_folder(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	CLEANUP(name_set_release) struct name_set names = {0};

	(void)state;
	directory_list(folder, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(memory_free) char *path = in_folder(names.items[i]);

		unlink(path);
	}
	return rmdir(folder);
}

TEST(a_file_is_replaced_as_a_whole)
{
	char *path = in_folder("whole"), *link_path = in_folder("link");
	struct text text = {0};
	struct error err = {0};
	struct stat info;

	assert_ok(file_write(path, "first", 5, &err));
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(symlink(path, link_path), 0);
	assert_ok(file_write(link_path, "second", 6, &err));
	assert_ok(file_read(path, &text, &err));
	assert_string_equal(text.data, "second");
	assert_int_equal(lstat(link_path, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0640);
	text_release(&text);
	free(path);
	free(link_path);
}

TEST(a_new_file_has_the_mode_that_umask_leaves)
{
	char *path = in_folder("new");
	const mode_t before = umask(027);
	struct error err = {0};
	struct stat info;

	assert_ok(file_write(path, "x", 1, &err));
	assert_int_equal(umask(before), 027);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0640);
	free(path);
}

/* Another user may have created the link. */
TEST(links_in_shared_folders_are_not_followed)
{
	char *shared = in_folder("shared"), *victim = in_folder("victim");
	char *planted = in_folder("shared/planted");
	struct text text = {0};
	struct error err = {0};
	struct file_lock lock;

	assert_ok(file_write(victim, "old", 3, &err));
	assert_int_equal(mkdir(shared, 0777), 0);
	assert_int_equal(symlink(victim, planted), 0);
	for (int sticky = 0; sticky < 2; sticky++) {
		assert_int_equal(chmod(shared, sticky ? 01777 : 0777), 0);
		assert_fails(file_write(planted, "new", 3, &err), STATUS_BAD_INPUT,
			"another user may have made this symbolic link");
		assert_fails(file_expect_writable(planted, &err), STATUS_BAD_INPUT, "not followed");
		assert_fails(file_lock(planted, &lock, &err), STATUS_BAD_INPUT, "not followed");
	}
	assert_ok(file_read(victim, &text, &err));
	assert_string_equal(text.data, "old");
	/* a group-writable folder contains a link of the same user */
	assert_int_equal(chmod(shared, 0770), 0);
	assert_ok(file_write(planted, "new", 3, &err));
	if (geteuid() == 0) {
		assert_int_equal(lchown(planted, 12345, (gid_t)-1), 0);
		assert_fails(
			file_write(planted, "evil", 4, &err), STATUS_BAD_INPUT, "not followed");
	}
	text_clear(&text);
	assert_ok(file_read(victim, &text, &err));
	assert_string_equal(text.data, "new");
	unlink(planted);
	assert_int_equal(rmdir(shared), 0);
	text_release(&text);
	free(shared);
	free(victim);
	free(planted);
}

TEST(a_link_to_a_missing_file_makes_that_file)
{
	char *link_path = in_folder("dangling"), *path = in_folder("made");
	struct error err = {0};

	assert_int_equal(symlink("made", link_path), 0);
	assert_ok(file_write(link_path, "x", 1, &err));
	assert_true(file_is_regular(path));
	free(link_path);
	free(path);
}

TEST(a_protected_file_is_not_replaced)
{
	char *path = in_folder("protected");
	struct text text = {0};
	struct error err = {0};

	assert_ok(file_write(path, "old", 3, &err));
	assert_int_equal(chmod(path, 0444), 0);
	assert_fails(file_write(path, "new", 3, &err), STATUS_BAD_INPUT, "write-protected");
	assert_fails(file_expect_writable(path, &err), STATUS_BAD_INPUT, "write-protected");
	assert_ok(file_read(path, &text, &err));
	assert_string_equal(text.data, "old");
	text_release(&text);
	free(path);
}

/* Files of a running writer stay: it has locked them, or has just created them. */
TEST(temporary_files_of_killed_writers_are_removed)
{
	static const char *const names[] = {
		"out.tmp-1-1", "out.tmp-1-2", "out.tmp-1-3", "other.tmp-1"};
	const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	char *path = in_folder("out"), *paths[ARRAY_COUNT(names)];
	struct error err = {0};
	int locked;

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		paths[i] = in_folder(names[i]);
		assert_ok(file_write(paths[i], "part", 4, &err));
		if (i != 1)
			assert_int_equal(utimensat(AT_FDCWD, paths[i], old, 0), 0);
	}
	locked = open(paths[2], O_WRONLY);
	assert_int_equal(flock(locked, LOCK_EX), 0);
	assert_ok(file_expect_writable(path, &err));
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		assert_int_equal(file_exists(paths[i]), i > 0);
		free(paths[i]);
	}
	close(locked);
	free(path);
}

/* Only a process that may write to a folder can hold its lock. A planted file in the lock's place
 * is never used. */
TEST(a_file_is_locked_by_those_who_may_write)
{
	static const struct {
		mode_t folder, lock;
	} modes[] = {{0700, 0200}, {0755, 0200}, {0775, 0220}, {01777, 0222}};
	char *shared = in_folder("locks"), *path = in_folder("locks/locked");
	char *lock_path = in_folder("locks/.tiletune.lock");
	struct file_lock lock, second;
	struct error err = {0};
	struct stat info;
	int reader;

	assert_int_equal(mkdir(shared, 0700), 0);
	reader = open(shared, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(reader, LOCK_EX), 0);
	for (size_t i = 0; i < ARRAY_COUNT(modes); i++) {
		assert_int_equal(chmod(shared, modes[i].folder), 0);
		assert_ok(file_lock(path, &lock, &err));
		assert_true(lock.fd >= 0);
		assert_int_equal(stat(lock_path, &info), 0);
		assert_int_equal(info.st_mode & 07777, modes[i].lock);
		assert_int_equal(flock(open(lock_path, O_WRONLY), LOCK_EX | LOCK_NB), -1);
		file_unlock(&lock);
		assert_false(file_exists(lock_path));
	}
	close(reader);
	/* a process that waits for a removed lock file locks the new one */
	assert_ok(file_lock(path, &lock, &err));
	assert_int_equal(unlink(lock_path), 0);
	assert_ok(file_lock(path, &second, &err));
	assert_true(second.fd >= 0 && file_exists(lock_path));
	file_unlock(&lock);
	file_unlock(&second);
	/* another user planted a link, or a FIFO that would block */
	assert_int_equal(symlink("elsewhere", lock_path), 0);
	assert_ok(file_lock(path, &lock, &err));
	file_unlock(&lock);
	assert_false(file_exists(lock_path));
	assert_int_equal(unlink(lock_path), 0);
	assert_int_equal(mkfifo(lock_path, 0666), 0);
	assert_ok(file_lock(path, &lock, &err));
	file_unlock(&lock);
	assert_int_equal(unlink(lock_path), 0);
	assert_int_equal(rmdir(shared), 0);
	free(shared);
	free(path);
	free(lock_path);
}

TEST(files_to_append_to_are_no_planted_links)
{
	static const struct {
		const char *name;
		mode_t folder;
		bool opens;
	} cases[] = {{"mine", 0700, true}, {"planted", 01777, false}, {"/dev/fd/9", 0700, true}};
	char *shared = in_folder("logs"), *victim = in_folder("victim.log");
	struct error err = {0};

	assert_int_equal(mkdir(shared, 0700), 0);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *path = path_join(shared, cases[i].name);
		int pipes[2], fd;

		assert_int_equal(pipe(pipes), 0);
		assert_int_equal(dup2(pipes[1], 9), 9);
		if (*cases[i].name != '/')
			assert_int_equal(symlink(victim, path), 0);
		assert_int_equal(chmod(shared, cases[i].folder), 0);
		fd = file_open_append(path, &err);
		assert_int_equal(fd >= 0, cases[i].opens);
		assert_true(cases[i].opens || strstr(err.message, "not followed"));
		assert_true(!cases[i].opens || write(fd, "x", 1) == 1);
		close(fd);
		close(pipes[0]);
		close(pipes[1]);
		close(9);
		if (*cases[i].name != '/')
			assert_int_equal(unlink(path), 0);
		free(path);
	}
	assert_int_equal(rmdir(shared), 0);
	free(shared);
	free(victim);
}

TEST(a_full_disk_leaves_the_old_file)
{
	char *path = in_folder("full");
	struct rlimit old, small;
	struct text text = {0};
	struct error err = {0};
	char big[65536];

	memset(big, 'x', sizeof(big));
	assert_ok(file_write(path, "old", 3, &err));
	getrlimit(RLIMIT_FSIZE, &old);
	small = (struct rlimit){4096, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(file_write(path, big, sizeof(big), &err), STATUS_FAILED);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_ok(file_read(path, &text, &err));
	assert_string_equal(text.data, "old");
	text_release(&text);
	free(path);
}

TEST(devices_are_written_through)
{
	struct error err = {0};
	struct stat info;

	assert_ok(file_write("/dev/null", "x", 1, &err));
	assert_int_equal(stat("/dev/null", &info), 0);
	assert_true(S_ISCHR(info.st_mode));
	assert_int_equal(file_write("/dev/full", "x", 1, &err), STATUS_FAILED);
}

TEST(unusable_paths_are_named)
{
	struct text text = {0};
	struct error err = {0};

	assert_fails(file_read("/nowhere/x", &text, &err), STATUS_BAD_INPUT, "/nowhere/x");
	assert_fails(file_read(folder, &text, &err), STATUS_BAD_INPUT, "this is a folder");
	assert_fails(file_write(folder, "x", 1, &err), STATUS_BAD_INPUT, "it is a folder");
	assert_fails(file_write("/nowhere/x", "x", 1, &err), STATUS_BAD_INPUT, "/nowhere/x");
	assert_null(text.data);
}

TEST(gzip_is_read_by_content)
{
	char *path = in_folder("packed");
	struct text text = {0}, raw = {0};
	struct error err = {0};
	FILE *file;
	long size;

	for (int i = 0; i < 20000; i++)
		text_appendf(&raw, "line %d\n", i);
	write_gzip(path, raw.data, raw.length);
	assert_ok(file_read(path, &text, &err));
	assert_int_equal(text.length, raw.length);
	assert_memory_equal(text.data, raw.data, raw.length);
	file = fopen(path, "r+");
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	assert_int_equal(ftruncate(fileno(file), size / 2), 0);
	fclose(file);
	text_clear(&text);
	text_append(&text, "kept");
	assert_fails(file_read(path, &text, &err), STATUS_BAD_INPUT, "gzip");
	assert_string_equal(text.data, "kept");
	text_release(&text);
	text_release(&raw);
	free(path);
}

/* Without a home folder the cache is a folder in /tmp with a predictable name. It must belong
 * only to this user. */
TEST(a_cache_without_a_home_is_ours_alone)
{
	char *path = NULL, *own = string_format("/tmp/tiletune-%u", (unsigned)geteuid());
	char *kept = string_format("%s-kept-%d", own, (int)getpid());
	const bool there = rename(own, kept) == 0; /* a folder that really exists */
	struct stat info;
	struct error err;

	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
	assert_int_equal(symlink(folder, own), 0); /* planted */
	assert_fails(path_cache_folder(NULL, &path, &err), STATUS_BAD_INPUT,
		"other users can write to this folder");
	free(path);
	assert_int_equal(unlink(own), 0);
	assert_ok(path_cache_folder(NULL, &path, &err));
	assert_string_equal(path, own);
	assert_int_equal(lstat(own, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	free(path);
	assert_int_equal(chmod(own, 0777), 0);
	assert_fails(path_cache_folder(NULL, &path, &err), STATUS_BAD_INPUT,
		"other users can write to this folder");
	free(path);
	assert_fails(path_cache_folder("", &path, &err), STATUS_BAD_INPUT,
		"the name of the cache folder is empty");
	assert_null(path);
	assert_ok(path_cache_folder("named", &path, &err));
	assert_string_equal(path, "named");
	free(path);
	rmdir(own);
	if (there)
		assert_int_equal(rename(kept, own), 0);
	free(kept);
	free(own);
}

TEST(paths_are_taken_apart)
{
	char *path = path_join("a/", "b"), *parent = path_parent("a/b/c"), *top = path_parent("x");

	assert_string_equal(path, "a/b");
	assert_string_equal(parent, "a/b");
	assert_string_equal(top, ".");
	assert_string_equal(path_name("a/b.c"), "b.c");
	free(path);
	path = path_join("a", "/b");
	assert_string_equal(path, "/b");
	free(path);
	free(parent);
	free(top);
}

TEST_GROUP(make_folder, remove_folder)
