/* SPDX-License-Identifier: MIT
 *
 * A run that is killed and resumed repeats nothing, loses nothing and ends with the same winner.
 * Its journal is cut after every line and within every line, and the run is interrupted repeatedly.
 */
#include <math.h>

#include "unit/unit.h"

#include "session_fixture.h"

#define MEASURED REPLAY_DATA "measured.jsonl.gz"
/* two problems in one text, for a session of both */
#define FIRST  "M=1000,N=1000,K=512"
#define SECOND "M=4096,N=256,K=2048"
#define WHERE  "BM in [64, 128] and BN in [128, 192] and BK >= 32"

static void open_two(struct session_fixture *fixture)
{
	struct error err = {0};

	session_fixture_open(fixture, MEASURED, "tile", FIRST);
	assert_ok(problem_parse(
		fixture->problems.items[0]->operation, SECOND, &fixture->problems, &err));
}

static const struct session_request whole = {.where = WHERE, .journal = true};

/* Counts over all runs of the journal how often each candidate of each problem was evaluated.
 * Fails if one was repeated, unless its earlier outcome requires a retry. */
static size_t count_evaluations(const struct session_fixture *fixture, size_t *entries)
{
	struct journal_record record;
	struct error err = {0};
	size_t count = 0;
	struct {
		const struct journal_problem *problem;
		const struct result *result;
	} seen[1024];

	*entries = 0;
	assert_ok(journal_read(fixture->journal, &record, &err));
	for (size_t r = 0; r < record.run_count; r++)
		for (size_t p = 0; p < record.runs[r].problem_count; p++) {
			const struct journal_problem *problem = &record.runs[r].problems[p];

			*entries += problem->entry != NULL;
			for (size_t i = 0; i < problem->result_count; i++) {
				const struct result *fresh = &problem->results[i];

				for (size_t k = 0; k < count; k++)
					if (strcmp(seen[k].problem->problem, problem->problem) ==
							0 &&
						strcmp(seen[k].result->family, fresh->family) ==
							0 &&
						strcmp(seen[k].result->configuration,
							fresh->configuration) == 0 &&
						seen[k].result->outcome != OUTCOME_TOO_NOISY &&
						seen[k].result->outcome != OUTCOME_DEVICE_LOST)
						fail_msg("%s was evaluated twice",
							fresh->configuration);
				assert_true(count < ARRAY_COUNT(seen));
				seen[count].problem = problem;
				seen[count++].result = fresh;
			}
		}
	journal_record_release(&record);
	return count;
}

/* Number of recorded candidates that a run tries again. */
static size_t count_open(const struct session_fixture *fixture)
{
	struct journal_record record;
	struct error err = {0};
	size_t count = 0;

	assert_ok(journal_read(fixture->journal, &record, &err));
	for (size_t p = 0; p < record.runs[0].problem_count; p++)
		for (size_t i = 0; i < record.runs[0].problems[p].result_count; i++) {
			enum outcome outcome = record.runs[0].problems[p].results[i].outcome;

			count += outcome == OUTCOME_TOO_NOISY || outcome == OUTCOME_DEVICE_LOST;
		}
	journal_record_release(&record);
	return count;
}

static void write_journal(const struct session_fixture *fixture, const char *data, size_t size)
{
	struct error err = {0};

	assert_ok(file_write(fixture->journal, data, size, &err));
}

TEST(a_run_cut_anywhere_is_resumed)
{
	struct session_fixture fixture;
	struct session_outcome full;
	struct text journal = {0};
	struct error err = {0};
	size_t total, still_open, entries, number = 0;

	open_two(&fixture);
	full = session_fixture_run(&fixture, &whole);
	assert_int_equal(full.problems, 2);
	total = count_evaluations(&fixture, &entries);
	still_open = count_open(&fixture);
	assert_true(total > 30);
	assert_int_equal(total, full.evaluated);
	assert_int_equal(entries, 2);
	assert_ok(file_read(fixture.journal, &journal, &err));
	for (size_t at = 0; at < journal.length;) {
		const char *newline = memchr(journal.data + at, '\n', journal.length - at);
		size_t end = (size_t)(newline - journal.data) + 1;
		const bool last = end == journal.length;
		/* after the line, without its newline, and within the line (the finish line ends
		 * the run) */
		const size_t torn[] = {last ? at + 2 : end - 1, at + (end - at) / 2, at + 1};
		const size_t cuts[] = {torn[number++ % ARRAY_COUNT(torn)], end};

		for (size_t i = 0; i < (last ? 1 : ARRAY_COUNT(cuts)); i++) {
			struct session_outcome resumed;
			size_t now;

			write_journal(&fixture, journal.data, cuts[i]);
			resumed = session_fixture_run(&fixture, &whole);
			assert_int_equal(resumed.status, STATUS_OK);
			assert_string_equal(resumed.winners, full.winners);
			assert_true(resumed.winner_us <= full.winner_us);
			assert_true(resumed.winner_us >= full.winner_us);
			assert_int_equal(resumed.problems + resumed.taken, 2);
			now = count_evaluations(&fixture, &entries);
			assert_true(now >= total && now <= total + still_open);
			assert_int_equal(entries, 2);
			free(resumed.winners);
		}
		at = end;
	}
	text_release(&journal);
	free(full.winners);
	session_fixture_close(&fixture);
}

/* Interrupts the run after every few evaluations until it is complete. */
TEST(a_run_interrupted_repeatedly_completes)
{
	static const char *const names[] = {"exhaustive", "guided", "random", "local"};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct session_request request = {
			.where = WHERE, .journal = true, .strategy = names[i]};
		struct session_fixture fixture;
		struct session_outcome outcome = {0};
		char *winners;
		size_t entries, runs = 0;

		open_two(&fixture);
		request.journal = false;
		outcome = session_fixture_run(&fixture, &request);
		winners = outcome.winners;
		request.journal = true;
		do {
			request.interrupt_after += 7;
			if (runs++)
				free(outcome.winners);
			outcome = session_fixture_run(&fixture, &request);
			assert_true(runs < 40);
		} while (outcome.status == STATUS_INTERRUPTED);
		assert_true(runs > 2);
		assert_int_equal(outcome.status, STATUS_OK);
		assert_string_equal(outcome.winners, winners);
		count_evaluations(&fixture, &entries);
		assert_int_equal(entries, 2);
		free(outcome.winners);
		free(winners);
		session_fixture_close(&fixture);
	}
}

TEST(finished_runs_are_not_resumed)
{
	struct session_fixture fixture;
	struct session_outcome first, second;

	open_two(&fixture);
	first = session_fixture_run(&fixture, &whole);
	second = session_fixture_run(&fixture, &whole);
	assert_int_equal(second.resumed, 0);
	assert_int_equal(second.taken, 0);
	assert_int_equal(second.evaluated, first.evaluated);
	free(first.winners);
	free(second.winners);
	session_fixture_close(&fixture);
}

/* Times of one final measurement belong together: if a run is killed before its entry is
 * written, the next run repeats that measurement as a whole. */
TEST(an_interrupted_remeasurement_is_repeated_as_a_whole)
{
	struct session_fixture fixture;
	struct session_outcome full;
	struct text journal = {0};
	struct error err = {0};
	char *entry, *last_final;

	session_fixture_open(&fixture, MEASURED, "tile", FIRST);
	full = session_fixture_run(&fixture, &whole);
	assert_ok(file_read(fixture.journal, &journal, &err));
	entry = strstr(journal.data, "{\"event\":\"entry\"");
	assert_non_null(entry);
	last_final = entry - 1;
	while (last_final[-1] != '\n')
		last_final--;
	assert_true(string_starts_with(last_final, "{\"event\":\"final\""));
	for (int complete = 0; complete < 2; complete++) {
		const char *end = complete ? entry : last_final;
		struct session_outcome resumed;
		struct journal_record record;

		write_journal(&fixture, journal.data, (size_t)(end - journal.data));
		resumed = session_fixture_run(&fixture, &whole);
		assert_string_equal(resumed.winners, full.winners);
		assert_ok(journal_read(fixture.journal, &record, &err));
		assert_int_equal(record.run_count, 2);
		assert_string_equal(record.runs[1].resumes, record.runs[0].run.id);
		assert_int_equal(record.runs[1].problems[0].remeasurement_count,
			record.runs[0].problems[0].remeasurement_count + !complete);
		journal_record_release(&record);
		free(resumed.winners);
	}
	text_release(&journal);
	free(full.winners);
	session_fixture_close(&fixture);
}

/* Evaluations spoiled by a lost device or by noise are tried again; all others are reused. */
TEST(spoiled_evaluations_are_tried_again)
{
	static const struct session_request all = {.journal = true};
	struct session_fixture fixture;
	struct session_outcome full, resumed;
	struct text journal = {0};
	struct error err = {0};
	size_t spoiled, total, entries;
	const char *end;

	session_fixture_open(&fixture, MEASURED, "tile", FIRST);
	full = session_fixture_run(&fixture, &all);
	total = count_evaluations(&fixture, &entries);
	spoiled = count_open(&fixture);
	assert_true(full.outcomes[OUTCOME_DEVICE_LOST] > 0);
	assert_true(full.outcomes[OUTCOME_TOO_NOISY] > 0);
	assert_int_equal(
		spoiled, full.outcomes[OUTCOME_DEVICE_LOST] + full.outcomes[OUTCOME_TOO_NOISY]);
	/* everything is evaluated, nothing re-measured */
	assert_ok(file_read(fixture.journal, &journal, &err));
	end = strstr(journal.data, "{\"event\":\"final\"");
	assert_non_null(end);
	write_journal(&fixture, journal.data, (size_t)(end - journal.data));
	resumed = session_fixture_run(&fixture, &all);
	assert_int_equal(resumed.resumed, total - spoiled);
	assert_int_equal(count_evaluations(&fixture, &entries), total + spoiled);
	text_release(&journal);
	free(full.winners);
	free(resumed.winners);
	session_fixture_close(&fixture);
}

/* The requested budget is the time of the search; the effort has a default. */
TEST(the_budget_is_the_time_of_the_search)
{
	struct session_request request = {
		.where = WHERE, .effort = "quick", .strategy = "exhaustive"};
	struct session_fixture fixture;
	struct session_outcome outcome;

	session_fixture_open(&fixture, MEASURED, "tile", FIRST);
	for (int asked = 0; asked < 2; asked++) {
		request.budget_s = asked ? 77 : 0;
		outcome = session_fixture_run(&fixture, &request);
		/* the effort's search time plus the final measurement */
		assert_true(fabs(outcome.budget_s - (asked ? 77 : 8 + 6)) < 1e-6);
		free(outcome.winners);
	}
	session_fixture_close(&fixture);
}
