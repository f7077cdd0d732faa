/* layer: base */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static char folder[] = "/tmp/tiletune-file-XXXXXX";

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

static enum status remove_entry(const char *name, void *context, struct error *err)
{
	char *path = in_folder(name);

	(void)context;
	(void)err;
	unlink(path);
	free(path);
	return STATUS_OK;
}

static int remove_folder(void **state)
{
	(void)state;
	directory_list(folder, remove_entry, NULL, NULL);
	return rmdir(folder);
}

static void a_file_is_replaced_as_a_whole(void **state)
{
	char *path = in_folder("whole"), *link_path = in_folder("link");
	struct text text = {0};
	struct error err = {0};
	struct stat info;

	(void)state;
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

static void a_full_disk_leaves_the_old_file(void **state)
{
	char *path = in_folder("full");
	struct rlimit old, small;
	struct text text = {0};
	struct error err = {0};
	char big[65536];

	(void)state;
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

static void devices_are_written_through(void **state)
{
	struct error err = {0};
	struct stat info;

	(void)state;
	assert_ok(file_write("/dev/null", "x", 1, &err));
	assert_int_equal(stat("/dev/null", &info), 0);
	assert_true(S_ISCHR(info.st_mode));
	assert_int_equal(file_write("/dev/full", "x", 1, &err), STATUS_FAILED);
}

static void unusable_paths_are_named(void **state)
{
	struct text text = {0};
	struct error err = {0};

	(void)state;
	assert_fails(file_read("/nowhere/x", &text, &err), STATUS_BAD_INPUT, "/nowhere/x");
	assert_fails(file_read(folder, &text, &err), STATUS_BAD_INPUT, "found a folder");
	assert_fails(file_write(folder, "x", 1, &err), STATUS_BAD_INPUT, "found a folder");
	assert_fails(file_write("/nowhere/x", "x", 1, &err), STATUS_BAD_INPUT, "/nowhere/x");
	assert_null(text.data);
}

static void gzip_is_read_by_content(void **state)
{
	char *path = in_folder("packed");
	struct text text = {0}, raw = {0};
	struct error err = {0};
	FILE *file;
	long size;

	(void)state;
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
	assert_fails(file_read(path, &text, &err), STATUS_BAD_INPUT, "gzip");
	text_release(&text);
	text_release(&raw);
	free(path);
}

/* Without a home the cache is a folder whose name everybody knows: ours alone, or none. */
static void a_cache_without_a_home_is_ours_alone(void **state)
{
	char *path = NULL, *own = string_format("/tmp/tiletune-%u", (unsigned)geteuid());
	char *kept = string_format("%s-kept-%d", own, (int)getpid());
	const bool there = rename(own, kept) == 0; /* a real one */
	struct stat info;
	struct error err;

	(void)state;
	unsetenv("HOME");
	unsetenv("XDG_CACHE_HOME");
	assert_int_equal(symlink(folder, own), 0); /* planted */
	assert_fails(path_cache_folder(NULL, &path, &err), STATUS_BAD_INPUT, "nobody else");
	free(path);
	assert_int_equal(unlink(own), 0);
	assert_ok(path_cache_folder(NULL, &path, &err));
	assert_string_equal(path, own);
	assert_int_equal(lstat(own, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	free(path);
	assert_int_equal(chmod(own, 0777), 0);
	assert_fails(path_cache_folder(NULL, &path, &err), STATUS_BAD_INPUT, "nobody else");
	free(path);
	assert_ok(path_cache_folder("named", &path, &err));
	assert_string_equal(path, "named");
	free(path);
	rmdir(own);
	if (there)
		assert_int_equal(rename(kept, own), 0);
	free(kept);
	free(own);
}

static void paths_are_taken_apart(void **state)
{
	char *path = path_join("a/", "b"), *parent = path_parent("a/b/c"), *top = path_parent("x");

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_replaced_as_a_whole),
		cmocka_unit_test(a_full_disk_leaves_the_old_file),
		cmocka_unit_test(devices_are_written_through),
		cmocka_unit_test(unusable_paths_are_named),
		cmocka_unit_test(gzip_is_read_by_content),
		cmocka_unit_test(paths_are_taken_apart),
		cmocka_unit_test(a_cache_without_a_home_is_ours_alone),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
