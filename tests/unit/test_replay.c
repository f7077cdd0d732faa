/* SPDX-License-Identifier: MIT
 *
 * The replay device, and every strategy on recorded spaces: each strategy ends, finds the best
 * candidate within its budget, and gives the same result for every seed.
 */
#include "unit/unit.h"
#include "handles.h"
#include "checked_line.h"

#include "search/strategy.h"
#include "session_fixture.h"

#define MEASURED     REPLAY_DATA "measured.jsonl.gz"
#define PREDICTED    REPLAY_DATA "predicted.jsonl"
#define TILE_PROBLEM "M=1000,N=1000,K=512"
#define GEMM_PROBLEM "M=512,N=512,K=512,dtype=bf16"

/* Number of evaluations, of 305 recorded ones, within which a strategy must find the best. */
static const struct {
	const char *strategy;
	size_t evaluations;
} budgets[] = {
	{"guided", 50},
	{"local", 100},
	{"model_top", 40},
	{"exhaustive", 305},
	{"random", 305},
};

static size_t budget_of(const char *strategy)
{
	for (size_t i = 0; i < ARRAY_COUNT(budgets); i++)
		if (strcmp(budgets[i].strategy, strategy) == 0)
			return budgets[i].evaluations;
	return 305; /* a new strategy must find it at some point */
}

/* ---- the recording ---- */
TEST(everything_is_replayed)
{
	/* tests/tools/record_tile.py distributed them over both problems */
	static const struct {
		enum outcome outcome;
		size_t count;
	} expected[] = {
		{OUTCOME_PRUNED_BY_MODEL, 5},
		{OUTCOME_COMPILE_FAILED, 6},
		{OUTCOME_COMPILE_CRASHED, 6},
		{OUTCOME_COMPILE_TIMEOUT, 5},
		{OUTCOME_LAUNCH_FAILED, 5},
		{OUTCOME_OUT_OF_MEMORY, 5},
		{OUTCOME_CRASHED, 5},
		{OUTCOME_TIMED_OUT, 5},
		{OUTCOME_WRONG_RESULT, 5},
		{OUTCOME_OUT_OF_BOUNDS, 5},
		{OUTCOME_NONDETERMINISTIC, 5},
		{OUTCOME_TOO_NOISY, 5},
		{OUTCOME_DEVICE_LOST, 5},
		{OUTCOME_OK, 543},
	};
	struct session_fixture fixture;
	struct session_outcome outcome;

	session_fixture_open(&fixture, MEASURED, "tile", TILE_PROBLEM);
	{
		struct error err = {0};

		assert_ok(problem_parse(fixture.problems.items[0]->operation, "M=4096,N=256,K=2048",
			&fixture.problems, &err));
	}
	assert_true(fixture.context.device->kind->measures);
	assert_false(fixture.context.device->kind->compiles);
	assert_string_equal(fixture.context.device->identity.kind, "replay");
	assert_string_equal(fixture.context.device->identity.name, "Test GPU 100");
	assert_int_equal(fixture.context.device->spec->sm_count, 100);
	assert_false(fixture.context.device->spec->from_sheet);
	outcome = session_fixture_run(&fixture, &(struct session_request){0});
	assert_int_equal(outcome.problems, 2);
	assert_int_equal(outcome.evaluated, 610);
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
		assert_int_equal(outcome.outcomes[expected[i].outcome], expected[i].count);
	assert_string_equal(outcome.winners,
		"tile/direct{\"BM\":64,\"BN\":192,\"BK\":64,\"STAGES\":3};"
		"tile/direct{\"BM\":96,\"BN\":128,\"BK\":64,\"STAGES\":3};");
	free(outcome.winners);
	session_fixture_close(&fixture);
}

struct stages {
	enum outcome loaded, final;
	double first_sample, first_final;
	size_t samples, remeasurements;
	char detail[64];
};

static struct device_reply next(struct device *device, enum reply_kind kind)
{
	struct device_reply reply = {0};

	assert_true(device_pending(device) > 0);
	assert_true(device_poll(device, 0, &reply));
	assert_int_equal(reply_kind(&reply), kind);
	return reply;
}

/* Takes a candidate through all stages, twice in the final measurement. */
static struct stages walk(struct device *device, const char *family, const char *configuration)
{
	struct device_load_request load = {.family = family, .configuration = configuration};
	struct stages stages = {0};
	device_handle handles[2];
	struct device_sample_request request = {
		.handles = handles, .handle_count = 1, .sampling.rounds = 1000};
	struct device_reply reply;
	struct error err = {0};

	assert_ok(device_problem(
		device, "tile", TILE_PROBLEM ",dtype=bf16", NULL, NULL, 0, &load.problem, &err));
	assert_ok(device_load(device, &load, &handles[0], &err));
	reply = next(device, REPLY_OF_LOADED);
	stages.loaded = reply.result.outcome;
	if (reply.result.detail)
		string_put(stages.detail, sizeof(stages.detail), reply.result.detail);
	device_reply_release(&reply);
	if (stages.loaded != OUTCOME_OK)
		return stages;
	assert_ok(device_verify(device, handles[0], &err));
	reply = next(device, REPLY_OF_VERIFIED);
	assert_int_equal(reply.result.outcome, OUTCOME_OK);
	device_reply_release(&reply);
	assert_ok(device_sample(device, &request, &err));
	reply = next(device, REPLY_OF_SAMPLED);
	assert_int_equal(reply.result.outcome, OUTCOME_OK);
	stages.samples = reply.result.sample_count;
	stages.first_sample = reply.result.sample_count ? reply.result.samples_us[0] : 0;
	assert_false(reply.result.sample_count && reply.result.predicted);
	device_reply_release(&reply);
	assert_ok(device_load(device, &load, &handles[1], &err));
	reply = next(device, REPLY_OF_LOADED);
	device_reply_release(&reply);
	request.handle_count = 2;
	request.sampling.rounds = 20;
	assert_ok(device_sample(device, &request, &err));
	for (int i = 0; i < 2; i++) {
		reply = next(device, REPLY_OF_SAMPLED);
		assert_int_equal(reply_handle(&reply), handles[i]);
		stages.final = reply.result.outcome;
		stages.remeasurements = reply.result.sample_count;
		stages.first_final = reply.result.sample_count ? reply.result.samples_us[0] : 0;
		device_reply_release(&reply);
	}
	device_unload(device, handles[0]);
	device_unload(device, handles[1]);
	assert_int_equal(device_pending(device), 0);
	return stages;
}

TEST(samples_are_repeated)
{
	struct session_fixture fixture;
	struct device *device;
	struct stages stages;

	session_fixture_open(&fixture, MEASURED, "tile", TILE_PROBLEM);
	device = fixture.context.device;
	stages = walk(device, "tile/direct", "BM=64,BN=192,BK=64,STAGES=3");
	assert_int_equal(stages.final, OUTCOME_OK);
	assert_int_equal(stages.samples, 8);
	assert_int_equal(stages.remeasurements, 20);
	assert_true(stages.first_sample > 0 && stages.first_final > 0);
	/* no remeasured_one: the first look's samples also answer in the final measurement */
	stages = walk(device, "tile/direct", "BM=32,BN=32,BK=16,STAGES=2");
	assert_int_equal(stages.remeasurements, 8);
	stages = walk(device, "tile/direct", "BM=1,BN=1,BK=1,STAGES=1");
	assert_int_equal(stages.loaded, OUTCOME_LAUNCH_FAILED);
	assert_string_equal(stages.detail, MEASURED " has no recording of it");
	session_fixture_close(&fixture);
}

TEST(failures_are_repeated)
{
	struct session_fixture fixture;
	struct journal_record record;
	struct error err = {0};
	size_t seen[OUTCOME_COUNT] = {0};

	session_fixture_open(&fixture, MEASURED, "tile", TILE_PROBLEM);
	assert_ok(journal_read(MEASURED, &record, &err));
	assert_int_equal(record.ignored_lines, 1);
	for (size_t i = 0; i < record.runs[0].problems[0].result_count; i++) {
		const struct result *known = &record.runs[0].problems[0].results[i];
		struct stages stages;
		if (known->outcome == OUTCOME_OK)
			continue;
		stages = walk(fixture.context.device, known->family, known->configuration);
		assert_int_equal(stages.loaded, known->outcome);
		assert_string_equal(stages.detail, known->detail ? known->detail : "");
		seen[known->outcome]++;
	}
	for (int i = 0; i < OUTCOME_COUNT; i++)
		assert_true(i == OUTCOME_OK || i == OUTCOME_OTHER_BITS || i == OUTCOME_TOO_FAST ||
			    seen[i] > 0);
	journal_record_release(&record);
	session_fixture_close(&fixture);
}

TEST(a_recorded_model_predicts)
{
	struct session_fixture fixture;
	struct session_outcome outcome;

	session_fixture_open(&fixture, PREDICTED, "gemm", GEMM_PROBLEM);
	assert_false(fixture.context.device->kind->measures);
	assert_true(fixture.context.device->spec->from_sheet);
	assert_string_equal(fixture.context.device->spec->name, "h200-sxm");
	outcome = session_fixture_run(&fixture, &(struct session_request){0});
	/* the current templates decide which recorded configurations are still legal */
	assert_true(outcome.evaluated >= 10);
	assert_true(outcome.outcomes[OUTCOME_OK] >= 10);
	free(outcome.winners);
	session_fixture_close(&fixture);
}

#define RUN                                                                                        \
	"{\"event\":\"run\",\"format\":\"tiletune.journal/"                                        \
	"1\",\"id\":\"a\",\"date\":\"d\",\"tiletune\":"                                            \
	"{\"version\":\"0\"},\"device_kind\":\"cuda\",\"signature\":"
TEST(broken_recordings_are_refused)
{
	const struct {
		const char *content, *message;
	} cases[] = {
		{"", "the journal has no run"},
		{"{\"event\":\"ru", "the journal has no run"},
		{"{\"event\":\"run\"}\n", "line 1: $: the member"},
		{RUN "\"b\"}\n", "device"},
		{RUN "\"b\",\"device\":{\"name\":\"x\"}}\n", "line 1: $.device"},
		{RUN "\"b\",\"device\":{\"name\":\"x\",\"sheet\":\"nowhere\",\"compute_"
		     "capability\":90,\"sm_count\":1}"
		     "}\n",
			"nowhere"},
		{"{\"event\":\"problem\"}\n", "line 1"},
	};
	const char *const none[] = {NULL};
	struct device_options options = {.config_folders = none};
	char path[] = TEST_SCRATCH "/tiletune-replay-XXXXXX";
	int fd = mkstemp(path);
	char *name = string_format("replay:%s", path);
	struct device *device;
	struct error err = {0};

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct text content = {0};

		checked_lines_append(&content, cases[i].content, strlen(cases[i].content));
		assert_ok(file_write(path, text_string(&content), content.length, &err));
		text_release(&content);
		assert_fails(device_open(name, &options, &device, &err), STATUS_BAD_INPUT,
			cases[i].message);
	}
	unlink(path);
	assert_fails(device_open(name, &options, &device, &err), STATUS_BAD_INPUT, path);
	free(name);
}

/* ---- strategies ---- */
TEST(every_strategy_finds_the_best)
{
	struct session_fixture fixture;

	session_fixture_open(&fixture, MEASURED, "tile", TILE_PROBLEM);
	for (size_t i = 0; strategies[i]; i++)
		for (uint64_t seed = 1; seed <= 5; seed++) {
			size_t budget = budget_of(strategies[i]->name);
			struct session_outcome outcome = session_fixture_run(
				&fixture, &(struct session_request){.strategy = strategies[i]->name,
						  .evaluations = budget,
						  .seed = seed});

			assert_true(outcome.evaluated <= budget);
			if (strcmp(outcome.winners, "tile/direct{\"BM\":64,\"BN\":192,\"BK\":64,"
						    "\"STAGES\":3};") != 0)
				fail_msg("%s, seed %u: %s", strategies[i]->name, (unsigned)seed,
					outcome.winners);
			free(outcome.winners);
		}
	session_fixture_close(&fixture);
}

/* A family that the search expects to be slow is still tried a few times. */
TEST(every_family_gets_a_few_evaluations)
{
	struct session_fixture fixture;
	struct session_outcome searched, alone;
	const size_t least = effort_find("quick")->of_each_family;

	session_fixture_open(&fixture, MEASURED, "tile", TILE_PROBLEM);
	/* the budget's stall rule ends the search early, because guided moves to where times are
	 * good */
	searched = session_fixture_run(&fixture, &(struct session_request){.effort = "quick"});
	assert_true(least > 2);
	assert_true(searched.of_family[0] >= least);
	assert_true(searched.of_family[1] >= least);
	/* a requested strategy runs by itself */
	alone = session_fixture_run(
		&fixture, &(struct session_request){
				  .effort = "quick", .strategy = "model_top", .evaluations = 10});
	assert_int_equal(alone.evaluated, 10);
	free(searched.winners);
	free(alone.winners);
	session_fixture_close(&fixture);
}

TEST(a_replay_of_a_replay_is_the_same)
{
	struct session_fixture fixture, again;
	struct session_outcome first, second;
	char *line, id[32];
	struct text content = {0}, copy = {0};
	struct error err = {0};

	session_fixture_open(&fixture, MEASURED, "tile", TILE_PROBLEM);
	first = session_fixture_run(&fixture, &(struct session_request){.journal = true});
	/* the fixture's run line has no device; add that of a real one */
	assert_ok(file_read(fixture.journal, &content, &err));
	assert_int_equal(sscanf(strstr(content.data, "\"id\":"), "\"id\":\"%31[^\"]", id), 1);
	line = string_format(
		"{\"event\":\"run\",\"format\":\"tiletune.journal/1\",\"id\":\"%s\",\"date\":\"d\","
		"\"tiletune\":{\"version\":\"0\"},\"signature\":\"y\",\"device_kind\":\"replay\","
		"\"device\":{\"name\":\"Test GPU 100\",\"compute_"
		"capability\":90,\"sm_count\":100,\"smem_per_block_bytes\":232448}}",
		id);
	checked_line_append(&copy, line, strlen(line));
	text_append(&copy, strchr(content.data, '\n') + 1);
	assert_ok(file_write(fixture.journal, copy.data, copy.length, &err));
	session_fixture_open(&again, fixture.journal, "tile", TILE_PROBLEM);
	assert_true(again.context.device->kind->measures);
	second = session_fixture_run(&again, &(struct session_request){0});
	assert_string_equal(first.winners, second.winners);
	assert_int_equal(first.evaluated, second.evaluated);
	assert_memory_equal(first.outcomes, second.outcomes, sizeof(first.outcomes));
	free(first.winners);
	free(second.winners);
	free(line);
	text_release(&copy);
	text_release(&content);
	session_fixture_close(&again);
	session_fixture_close(&fixture);
}
