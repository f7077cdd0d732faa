/* SPDX-License-Identifier: MIT
 *
 * Rules of the tuned file: replacing entries, refused files, members that survive a rewrite.
 */
#include "unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "record/record_write.h"
#include "tuned_entries.h"

TEST(runs_are_listed_once)
{
	struct tuned tuned;

	open_empty(&tuned);
	for (size_t i = 0; i < 3; i++) {
		struct run run = run_of(i == 1 ? "r2" : "r1", i == 0 ? "\"driver\":\"1\"" : "");

		tuned_put_run(&tuned, &run);
	}
	assert_int_equal(tuned.run_count, 2);
	assert_null(tuned_run(&tuned, "r1")->driver);
	assert_null(tuned_run(&tuned, "r3"));
	tuned_release(&tuned);
}

/* ---- files ---- */
TEST(other_devices_are_refused)
{
	static const struct {
		const char *name, *sheet;
		int cc, sm_count;
		bool same;
	} cases[] = {
		{"NVIDIA H200", "h200-sxm", 90, 132, true},
		/* the sheet that the GPU matches is the same model, under any name */
		{"NVIDIA H200 SXM5 141 GB", "h200-sxm", 90, 132, true},
		{"NVIDIA H200", NULL, 90, 132, true},
		{"NVIDIA H200", "h200-sxm", 90, 66, false}, /* a part of the GPU (MIG) */
		{"NVIDIA H100", "h100-sxm", 90, 132, false},
		{"NVIDIA H200", "h200-sxm", 100, 132, false},
		{"NVIDIA X", NULL, 90, 132, false},
	};
	struct error err = {0};
	struct tuned tuned;

	open_empty(&tuned);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct gpu_model model =
			device(cases[i].name, cases[i].sheet, cases[i].cc, cases[i].sm_count);

		if (cases[i].same) {
			assert_ok(tuned_expect_device(&tuned, &model, &err));
		} else {
			assert_fails(tuned_expect_device(&tuned, &model, &err), STATUS_BAD_INPUT,
				"the file is for");
			assert_true(string_starts_with(err.hint, "write to another file with -o"));
		}
		gpu_model_release(&model);
	}
	tuned_release(&tuned);
}

/* GPUs without a sheet are distinguished by name. */
TEST(gpus_without_a_sheet_differ_by_name)
{
	struct gpu_model other = device("NVIDIA B", NULL, 86, 84);
	struct error err = {0};
	struct tuned tuned;

	tuned_init(&tuned, "x.json", device("NVIDIA A", NULL, 86, 84));
	assert_fails(tuned_expect_device(&tuned, &other, &err), STATUS_BAD_INPUT,
		"x.json: the file is for NVIDIA A with 84 SMs, not for NVIDIA B with 84 SMs; it "
		"was "
		"not changed");
	gpu_model_release(&other);
	tuned_release(&tuned);
}

static char *scratch_file(void)
{
	char *path = string_copy(TEST_SCRATCH "/tiletune-tuned-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

static void write_text(const char *path, const char *text)
{
	struct error err = {0};

	assert_ok(file_write(path, text, strlen(text), &err));
}

/* Unknown members of a newer version survive a rewrite: those of the file, an entry, a winner,
 * another family's row and a tied row. They also survive if another entry is replaced or the
 * file is merged. */
TEST(unknown_members_survive)
{
	static const char file[] =
		"{\"format\":\"tiletune.tuned/1\",\"future\":{\"x\":[1,2]},\"device\":{\"name\":"
		"\"NVIDIA "
		"H200\",\"sheet\":\"h200-sxm\",\"compute_capability\":90,\"sm_count\":132},"
		"\"runs\":[{\"id\":\"r0\",\"date\":\"d\",\"tiletune\":{\"version\":\"1\"}}],"
		"\"entries\":[{\"operation\":\"gemm\",\"problem\":{\"M\":7},\"timing\":"
		"\"measured\","
		"\"note\":\"n\",\"run\":\"r0\",\"winner\":{\"family\":\"gemm/a\","
		"\"configuration\":{},\"mood\":\"good\",\"kernel_hash\":\"\",\"time_us\":{"
		"\"median\":1.5,\"ci95_low\":1,\"ci95_high\":2,\"samples\":1}},\"tied\":[{"
		"\"configuration\":{},\"colour\":2,\"time_us\":{\"median\":1.5,\"ci95_low\":1,"
		"\"ci95_high\":2,\"samples\":1}}],\"families\":[{\"family\":\"gemm/b\","
		"\"configuration\":{},\"kernel_hash\":\"\",\"weather\":[],\"time_us\":{"
		"\"median\":1.5,\"ci95_low\":1,\"ci95_high\":2,\"samples\":1}}]}]}";
	static const char *const members[] = {"\"future\": {\"x\":[1,2]}", "\"note\":\"n\"",
		"\"mood\":\"good\"", "\"colour\":2", "\"weather\":[]"};
	char *path = scratch_file();
	struct text content = {0};
	struct run run = run_of("r1", "");
	struct tuned tuned, other;
	struct error err = {0};

	write_text(path, file);
	for (int round = 0; round < 2; round++) {
		assert_ok(tuned_load(path, &tuned, &err));
		if (round) {
			/* another process has written the file in the meantime */
			assert_ok(tuned_load(path, &other, &err));
			put(&other, entry(P2, "measured", "r1", "gemm/a:5"));
			assert_ok(tuned_replace(&other, path, &err));
			tuned_release(&other);
		}
		put(&tuned, entry(P1, "measured", "r1", "gemm/a:5"));
		tuned_put_run(&tuned, &run);
		assert_ok(tuned_save(&tuned, path, NULL, &err));
		tuned_release(&tuned);
		assert_ok(file_read(path, &content, &err));
		for (size_t i = 0; i < ARRAY_COUNT(members); i++)
			if (!strstr(content.data, members[i]))
				fail_msg("%s left %s", members[i], content.data);
		text_clear(&content);
		run = run_of("r2", "");
	}
	run_release(&run);
	text_release(&content);
	unlink(path);
	free(path);
}

/* Each run and each entry takes one line; a tied row stores only its differences from the
 * winner. */
TEST(runs_and_entries_take_one_line_each)
{
	static const char expected[] =
		"{\n\"format\": \"tiletune.tuned/1\",\n\"device\": {\"name\":\"NVIDIA H200\","
		"\"sheet\":\"h200-sxm\",\"compute_capability\":90,\"sm_count\":132},\n\"runs\": [\n"
		"{\"id\":\"r1\",\"date\":\"r1\",\"tiletune\":{\"version\":\"1\"},\"driver\":null,"
		"\"nvrtc\":null,\"uuid\":null,\"power_limit_w\":0,\"mig\":null,\"anchor_us\":0}\n],"
		"\n"
		"\"entries\": [\n{\"operation\":\"gemm\",\"problem\":{\"M\":1,\"dtype\":\"bf16\"},"
		"\"timing\":\"measured\",\"run\":\"r1\",\"winner\":{\"family\":\"gemm/a\","
		"\"configuration\":{\"BM\":5,\"BN\":64},\"time_us\":{\"median\":5.123457,"
		"\"ci95_low\":5,\"ci95_high\":6,\"samples\":3},\"kernel_hash\":\"\"},\"tied\":[{"
		"\"configuration\":{\"BN\":32},\"time_us\":{\"median\":5.2,\"ci95_low\":5,"
		"\"ci95_high\":6,\"samples\":3}}],\"families\":[]}\n]\n}\n";
	static const char winner[] =
		"{\"family\":\"gemm/"
		"a\",\"configuration\":{\"BM\":5,\"BN\":64},\"kernel_hash\":\"\","
		"\"time_us\":{\"median\":5.123456789,\"ci95_low\":5,\"ci95_high\":6,\"samples\":3}"
		"}";
	static const char tied[] =
		"{\"family\":\"gemm/"
		"a\",\"configuration\":{\"BM\":5,\"BN\":32},\"kernel_hash\":\"\","
		"\"time_us\":{\"median\":5.2,\"ci95_low\":5,\"ci95_high\":6,\"samples\":3}}";
	struct tuned_entry one = {.operation = string_copy("gemm"),
		.problem = problem_of(1),
		.run = string_copy("r1")};
	struct run run = run_of("r1", "");
	struct tuned_row row = {0}, whole;
	CLEANUP(text_release) struct text text = {0};
	struct tuned tuned;

	parse(&tuned_row_record, winner, &one.winner);
	parse(&tuned_row_record, tied, &row);
	tuned_entry_add_tied(&one, &row);
	whole = tuned_entry_tied(&one, &one.tied[0]);
	assert_string_equal(whole.result.family, "gemm/a");
	assert_int_equal(whole.configuration.count, 2);
	assert_int_equal(whole.configuration.items[0].value.integer, 5);
	assert_int_equal(whole.configuration.items[1].value.integer, 32);
	named_values_release(&whole.configuration);
	open_empty(&tuned);
	tuned.device.dram_bytes = tuned.device.smem_per_sm_bytes = -1;
	tuned.device.smem_per_block_bytes = tuned.device.regs_per_sm = -1;
	put(&tuned, one);
	tuned_put_run(&tuned, &run);
	tuned_append(&tuned, &text);
	assert_string_equal(text_string(&text), expected);
	tuned_release(&tuned);
}

/* A full disk leaves the old file unchanged and no temporary file. */
TEST(a_full_disk_leaves_the_old_file)
{
	char folder[] = TEST_SCRATCH "/tiletune-tuned-XXXXXX";
	struct rlimit limit, small;
	struct text before = {0}, after = {0};
	struct tuned tuned;
	struct error err = {0};
	char *path;

	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "x.json");
	open_empty(&tuned);
	put(&tuned, entry(P1, "measured", "r1", "gemm/a:5"));
	assert_ok(tuned_save(&tuned, path, NULL, &err));
	assert_ok(file_read(path, &before, &err));
	put(&tuned, entry(P2, "measured", "r1", "gemm/a:5"));
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = before.length;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_fails(tuned_save(&tuned, path, NULL, &err), STATUS_FAILED, "x.json");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_ok(file_read(path, &after, &err));
	assert_int_equal(after.length, before.length);
	assert_memory_equal(after.data, before.data, before.length);
	tuned_release(&tuned);
	text_release(&before);
	text_release(&after);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0); /* the folder is empty: no temporary file is left */
	free(path);
}

TEST(a_device_as_json_is_complete)
{
	struct device_spec spec = {.name = (char *)(uintptr_t) "h200-sxm",
		.from_sheet = true,
		.compute_capability = 90,
		.arch = "sm_90a",
		.sm_count = 132,
		.l2_bytes = 1,
		.dram_bytes = 2,
		.smem_per_sm_bytes = 3,
		.smem_per_block_bytes = 4,
		.regs_per_sm = 5};
	struct gpu_model model = gpu_model_of(&spec, "NVIDIA H200");
	struct json *json = record_to_json(&gpu_model_record, &model);
	char *printed = json_print(json, false);

	assert_string_equal(printed,
		"{\"name\":\"NVIDIA "
		"H200\",\"sheet\":\"h200-sxm\",\"compute_capability\":90,\"arch\":"
		"\"sm_90a\",\"sm_count\":132,\"l2_bytes\":1,\"dram_bytes\":2,\"smem_per_sm_bytes\":"
		"3,"
		"\"smem_per_block_bytes\":4,\"regs_per_sm\":5}");
	free(printed);
	json_free(json);
	gpu_model_release(&model);
	spec.from_sheet = false;
	model = gpu_model_of(&spec, "NVIDIA H200");
	json = record_to_json(&gpu_model_record, &model);
	gpu_model_release(&model);
	printed = json_print(json, false);
	assert_non_null(strstr(printed, "\"sheet\":null"));
	free(printed);
	json_free(json);
}

/* Two processes read one file and save it one after the other. */
TEST(two_writers_lose_nothing)
{
	char *path = scratch_file();
	struct run r1 = run_of("r1", ""), r2 = run_of("r2", "");
	struct tuned a, b;
	struct error err = {0};

	unlink(path);
	open_empty(&a);
	open_empty(&b);
	tuned_put_run(&a, &r1);
	tuned_put_run(&b, &r2);
	put(&a, entry(P1, "measured", "r1", "gemm/a:5"));
	put(&b, entry(P2, "measured", "r2", "gemm/a:9"));
	assert_ok(tuned_save(&a, path, "r1", &err));
	assert_ok(tuned_save(&b, path, "r2", &err));
	/* a second save keeps entries merged in the meantime */
	put(&a, entry(P1, "measured", "r1", "gemm/a:7"));
	assert_ok(tuned_save(&a, path, "r1", &err));
	/* the other process read the file before that */
	check(&b, P1, "gemm/a:5 |");
	assert_ok(tuned_save(&b, path, "r2", &err));
	tuned_release(&a);
	tuned_release(&b);
	assert_ok(tuned_load(path, &a, &err));
	assert_int_equal(a.entry_count, 2);
	assert_int_equal(a.run_count, 2);
	check(&a, P1, "gemm/a:7 |");
	check(&a, P2, "gemm/a:9 |");
	/* a file of another GPU model is not overwritten */
	open_empty(&b);
	b.device.sm_count = 7;
	assert_ok(tuned_replace(&b, path, &err));
	assert_fails(tuned_save(&a, path, NULL, &err), STATUS_BAD_INPUT, "with 7 SMs");
	tuned_release(&a);
	tuned_release(&b);
	unlink(path);
	free(path);
}

/* Two processes tune different families of one problem and save intermediate results several
 * times, in any order. */
TEST(two_writers_of_one_problem_keep_the_better)
{
	static const char *const orders[] = {"abab", "baba", "abba", "baab", "aabb", "bbaa"};
	char *path = scratch_file();
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		struct run r1 = run_of("r1", ""), r2 = run_of("r2", "");
		struct tuned files[2], last;
		int saved[2] = {0};

		unlink(path);
		open_empty(&files[0]);
		open_empty(&files[1]);
		tuned_put_run(&files[0], &r1);
		tuned_put_run(&files[1], &r2);
		for (const char *at = orders[i]; *at; at++) {
			const int who = *at - 'a';
			const char *run = who ? "r2" : "r1";
			char *rows = string_format("gemm/%c:%d", *at, 9 - who - 2 * saved[who]++);

			assert_ok(tuned_refresh(&files[who], path, run, &err));
			put(&files[who], entry(P1, "measured", run, rows));
			assert_ok(tuned_save(&files[who], path, run, &err));
			free(rows);
		}
		assert_ok(tuned_load(path, &last, &err));
		check(&last, P1,
			strchr(orders[i], '\0')[-1] == 'a' ? "gemm/b@r2:6 | gemm/a:7"
							   : "gemm/b:6 | gemm/a@r1:7");
		assert_int_equal(last.run_count, 2);
		tuned_release(&last);
		tuned_release(&files[0]);
		tuned_release(&files[1]);
	}
	unlink(path);
	free(path);
}

TEST(a_shortened_row_keeps_whether_dram_limits_it)
{
	for (int is_dram = 0; is_dram < 2; is_dram++) {
		struct tuned_row row = {.result.family = string_copy("gemm/mma"),
			.result.score = {.launch_count = 1}};

		row.result.score.launches = memory_zeroed(1, sizeof(*row.result.score.launches));
		row.result.score.launches[0].bound = is_dram ? BOUND_DRAM : BOUND_TENSOR;
		tuned_row_shorten(&row);
		assert_null(row.result.score.launches);
		assert_int_equal(tuned_row_is_clock_bound(&row), !is_dram);
		tuned_row_shorten(&row);
		assert_int_equal(tuned_row_is_clock_bound(&row), !is_dram);
		tuned_row_release(&row);
	}
}
