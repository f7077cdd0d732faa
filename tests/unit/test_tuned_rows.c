/* SPDX-License-Identifier: MIT
 *
 * The rows of an entry that is tuned again: which old ones stay, and who wins then.
 */
#include "unit/unit.h"
#include "tuned_entries.h"

#include <math.h>

TEST(test_families_are_merged)
{
	struct tuned tuned;

	open_empty(&tuned);
	put(&tuned, entry(P1, "measured", "r1", "gemm/a:5 gemm/b:7 gemm/c:9"));
	/* b alone again, now fastest */
	put(&tuned, entry(P1, "measured", "r2", "gemm/b:4"));
	check(&tuned, P1, "gemm/b:4 | gemm/a@r1:5 gemm/c@r1:9");
	/* c alone, not fast enough: b of r2 stays the winner, and says of which run it is */
	assert_string_equal(put(&tuned, entry(P1, "measured", "r3", "gemm/c:8")),
		"the winner stays one of a family that was not tuned now");
	check(&tuned, P1, "gemm/b@r2:4 | gemm/c:8 gemm/a@r1:5");
	/* what was tied with the new winner is not tied with the old one */
	assert_int_equal(find(&tuned, P1)->tied_count, 0);
	/* within 1% of the old one: level, and the new one is the winner */
	assert_null(put(&tuned, entry(P1, "measured", "r4", "gemm/c:4.03")));
	check(&tuned, P1, "gemm/c:4.03 | gemm/b@r2:4 gemm/a@r1:5");
	tuned_release(&tuned);
}

/* By what others lost is said of the winner that they were compared with. */
TEST(test_another_winner_has_no_rounds_in_common)
{
	const struct tuned_entry *found;
	struct tuned tuned;

	open_empty(&tuned);
	put(&tuned, entry(P1, "measured", "r1", "gemm/a:4 gemm/b:7"));
	found = find(&tuned, P1);
	assert_non_null(found->runner_up);
	assert_non_null(found->families[0].lost);
	/* the winner is new, and the row of a family that was not tuned now is an old one */
	put(&tuned, entry(P1, "measured", "r2", "gemm/a:3 gemm/c:8"));
	found = find(&tuned, P1);
	check(&tuned, P1, "gemm/a:3 | gemm/c:8 gemm/b@r1:7");
	assert_non_null(found->runner_up);
	assert_non_null(found->families[0].lost);
	assert_null(found->families[1].lost);
	/* an old row wins */
	put(&tuned, entry(P1, "measured", "r3", "gemm/c:8 gemm/d:9"));
	found = find(&tuned, P1);
	check(&tuned, P1, "gemm/a@r2:3 | gemm/d:9 gemm/c:8 gemm/b@r1:7");
	assert_null(found->runner_up);
	for (size_t i = 0; i < found->family_count; i++)
		assert_null(found->families[i].lost);
	assert_null(found->winner.lost);
	tuned_release(&tuned);
}

TEST(test_who_wins_did_not_lose)
{
	struct tuned_entry one = entry(P1, "measured", "r1", "gemm/a:4 gemm/b:7");

	assert_non_null(one.families[0].lost);
	tuned_entry_promote(&one, 0);
	assert_string_equal(one.winner.result.family, "gemm/b");
	assert_null(one.winner.lost);
	assert_int_equal(one.tied_count, 0);
	tuned_entry_release(&one);
}

/* Several old rows beat the new winner: the fastest wins, wherever it stands. */
TEST(test_the_fastest_old_row_wins)
{
	static const char *const orders[] = {"gemm/a:3 gemm/b:5", "gemm/b:5 gemm/a:3"};

	for (size_t i = 0; i < ARRAY_COUNT(orders); i++) {
		struct tuned tuned;
		char *found;

		open_empty(&tuned);
		put(&tuned, entry(P1, "measured", "r1", orders[i]));
		put(&tuned, entry(P1, "measured", "r2", "gemm/c:9"));
		found = describe(&tuned, P1);
		assert_true(string_starts_with(found, "gemm/a@r1:3 |"));
		free(found);
		tuned_release(&tuned);
	}
}

/* ---- families that were tuned again ---- */
/* Says yes or no, and counts how often it was asked. */
struct answer {
	bool stands;
	int asked;
};

static bool answer(const struct tuned_row *row, void *context)
{
	struct answer *answer = context;

	assert_true(string_starts_with(row->result.family, "gemm/"));
	answer->asked++;
	return answer->stands;
}

#define RUN(driver, nvrtc, watt, uuid, anchor)                                                     \
	"\"driver\":" driver ",\"nvrtc\":" nvrtc ",\"power_limit_w\":" watt ",\"uuid\":" uuid      \
	",\"mig\":\"disabled\",\"anchor_us\":" anchor
#define OLD_RUN RUN("\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1000")

/* families of r1, then of r2 in a run like this, with a judge that says yes. */
static const char *put_again(struct tuned *tuned, const char *old_run, const char *new_run,
	const char *old, const char *new, struct answer *context)
{
	const struct tuned_judge judge = {answer, context};
	struct tuned_entry first = entry(P1, "measured", "r1", old);
	struct tuned_entry second = entry(P1, "measured", "r2", new);
	struct run r1 = run_of("r1", old_run);
	struct run r2 = run_of(new_run ? "r2" : "another", new_run ? new_run : "");
	const char *kept;

	open_empty(tuned);
	tuned_put_run(tuned, &r1);
	tuned_put_run(tuned, &r2);
	tuned_put_entry(tuned, &first, &judge, &kept);
	assert_null(kept);
	assert_int_equal(context->asked, 0);
	tuned_put_entry(tuned, &second, &judge, &kept);
	return kept;
}

static void bind_to_dram(struct tuned_row *row)
{
	row->result.score.launches = memory_zeroed(1, sizeof(*row->result.score.launches));
	row->result.score.launch_count = 1;
	row->result.score.launches[0].bound = BOUND_DRAM;
}

/* The clock is slower now: an old time is worth three tenths more, but not where the kernel
 * waits for DRAM. */
TEST(test_the_anchor_speaks_for_kernels_that_the_clock_binds)
{
	static const char *const expected[] = {"gemm/a:6 |", "gemm/a@r1:5 |"};

	for (int dram = 0; dram < 2; dram++) {
		struct answer yes = {.stands = true};
		const struct tuned_judge judge = {answer, &yes};
		struct tuned_entry first = entry(P1, "measured", "r1", "gemm/a:5");
		struct tuned_entry second = entry(P1, "measured", "r2", "gemm/a:6");
		struct run r1 = run_of("r1", OLD_RUN);
		struct run r2 =
			run_of("r2", RUN("\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1300"));
		struct tuned tuned;
		const char *kept;

		if (dram)
			bind_to_dram(&first.winner);
		open_empty(&tuned);
		tuned_put_run(&tuned, &r1);
		tuned_put_run(&tuned, &r2);
		tuned_put_entry(&tuned, &first, &judge, &kept);
		tuned_put_entry(&tuned, &second, &judge, &kept);
		check(&tuned, P1, expected[dram]);
		tuned_release(&tuned);
	}
}

/* A run over few candidates does not undo what an earlier one found. */
TEST(test_a_faster_row_stays)
{
	static const char same[] = RUN("\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1000");
	struct answer yes = {.stands = true}, no = {0};
	struct tuned tuned;

	/* b of r1 is faster, a of r2: each stays, and the winner is a */
	assert_null(
		put_again(&tuned, OLD_RUN, same, "gemm/a:5 gemm/b:7", "gemm/a:4 gemm/b:8", &yes));
	check(&tuned, P1, "gemm/a:4 | gemm/b@r1:7");
	assert_int_equal(yes.asked, 1);
	tuned_release(&tuned);
	/* the winner's own row */
	yes.asked = 0;
	assert_string_equal(put_again(&tuned, OLD_RUN, same, "gemm/a:5", "gemm/a:6", &yes),
		"the winner stays what an earlier run found: nothing that was tried now is as "
		"fast");
	check(&tuned, P1, "gemm/a@r1:5 |");
	tuned_release(&tuned);
	/* its sources have changed, or it was tried again: the judge says no */
	assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:5", "gemm/a:6", &no));
	check(&tuned, P1, "gemm/a:6 |");
	assert_int_equal(no.asked, 1);
	tuned_release(&tuned);
	/* within the floor of 1%, and the same configuration (BM is the whole number) timed again
	 */
	no.asked = 0;
	assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:9.96", "gemm/a:10.04", &no));
	check(&tuned, P1, "gemm/a:10.04 |");
	tuned_release(&tuned);
	assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:5.1", "gemm/a:5.9", &no));
	check(&tuned, P1, "gemm/a:5.9 |");
	tuned_release(&tuned);
	assert_int_equal(no.asked, 0);
	{
		/* the old row was verified in another way */
		struct tuned_entry third = entry(P1, "measured", "r3", "gemm/a:7.5");
		const struct tuned_judge judge = {answer, &yes};
		struct run r3 = run_of("r3", same);
		const char *kept;

		yes.asked = 0;
		assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:5", "gemm/a:4", &yes));
		tuned_put_run(&tuned, &r3);
		string_put(third.verification_hash, sizeof(third.verification_hash), "01");
		tuned_put_entry(&tuned, &third, &judge, &kept);
		check(&tuned, P1, "gemm/a:7.5 |");
		tuned_release(&tuned);
	}
	{
		/* nobody to ask: what is new stands */
		struct tuned_entry third = entry(P1, "measured", "r2", "gemm/a:7.5");
		const char *kept;

		yes.asked = 0;
		assert_null(put_again(&tuned, OLD_RUN, same, "gemm/a:5", "gemm/a:4", &yes));
		tuned_put_entry(&tuned, &third, NULL, &kept);
		check(&tuned, P1, "gemm/a:7.5 |");
		tuned_release(&tuned);
	}
}

/* Another driver, compiler, power limit or MIG mode: what was measured then says nothing now. The
 * anchor stands for the clock, and makes two cards of one model comparable. */
TEST(test_rows_of_other_conditions_are_replaced)
{
	static const struct {
		const char *run, *expected;
	} cases[] = {
		{RUN("\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1000"), "@r1:50 |"},
		{RUN("\"590\"", "\"13.0\"", "700", "\"GPU-1\"", "1000"), ":55 |"},
		{RUN("\"580\"", "\"13.1\"", "700", "\"GPU-1\"", "1000"), ":55 |"},
		{RUN("\"580\"", "\"13.0\"", "500", "\"GPU-1\"", "1000"), ":55 |"},
		{RUN("null", "\"13.0\"", "700", "\"GPU-1\"", "1000"), ":55 |"},
		{RUN("\"580\"", "\"13.0\"", "700", "\"GPU-2\"", "1000"), "@r1:50 |"},
		{RUN("\"580\"", "\"13.0\"", "700", "\"GPU-2\"", "0"), ":55 |"},
		{RUN("\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "0"), "@r1:50 |"},
		/* today's clock is 12% slower: 50 us would be 56 */
		{RUN("\"580\"", "\"13.0\"", "700", "\"GPU-1\"", "1120"), ":55 |"},
		{NULL, ":55 |"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct answer yes = {.stands = true};
		struct tuned tuned;
		char *expected = string_format("gemm/a%s", cases[i].expected);

		put_again(&tuned, OLD_RUN, cases[i].run, "gemm/a:50", "gemm/a:55", &yes);
		check(&tuned, P1, expected);
		free(expected);
		tuned_release(&tuned);
	}
}

/* A search that was stopped is the winner's affair. */
TEST(test_the_winner_may_be_unfinished)
{
	struct tuned_entry stopped = entry(P1, "measured", "r2", "gemm/b:9");
	struct tuned tuned;

	open_empty(&tuned);
	assert_null(put(&tuned, entry(P1, "measured", "r1", "gemm/a:5")));
	stopped.unfinished = true;
	assert_non_null(put(&tuned, stopped));
	assert_false(find(&tuned, P1)->unfinished);
	stopped = entry(P1, "measured", "r3", "gemm/b:3");
	stopped.unfinished = true;
	assert_null(put(&tuned, stopped));
	assert_true(find(&tuned, P1)->unfinished);
	assert_non_null(put(&tuned, entry(P1, "measured", "r4", "gemm/c:7")));
	check(&tuned, P1, "gemm/b@r3:3 | gemm/c:7 gemm/a@r1:5");
	assert_true(find(&tuned, P1)->unfinished);
	assert_null(put(&tuned, entry(P1, "measured", "r5", "gemm/b:2")));
	assert_false(find(&tuned, P1)->unfinished);
	tuned_release(&tuned);
}
