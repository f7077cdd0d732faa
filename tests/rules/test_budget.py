"""Tests when a search ends (tune/budget.h, src/tune/README.md)."""
import math

from hypothesis import given, strategies as draw

from oracle import ask

STALL_RATIO = 0.01  # see rule_budget.c
steps = draw.sampled_from([1.0, 1.0, 0.995, 0.985, 0.9, 1.1, math.inf])


@given(draw.lists(steps, max_size=25), draw.integers(1, 20), draw.integers(0, 5), draw.integers(1, 10), draw.booleans())
def test_evaluations_and_steps_without_a_gain_are_counted(steps, evaluations, kept, stall, measures):
	kept, times, best = min(kept, evaluations - 1), [], 100.0
	for step in steps:  # each step is relative to the best so far
		times.append(best * step)
		best = min(best, times[-1])
	got = ask("budget", effort="quick", evaluations=evaluations, kept=kept, stall=stall, measures=measures, seconds=1000, times=times)
	counted, since_gain, best = 0, 0, math.inf
	for attempts, (us, after) in enumerate(zip(times, got[1:]), 1):
		since_gain = 0 if us < math.inf and us <= best * (1 - STALL_RATIO) else since_gain + 1
		best = min(best, us)
		counted += measures or us < math.inf
		if counted >= evaluations - kept:
			assert "number of evaluations" in after["spent"]
		elif attempts < 16 * evaluations:  # the limit of the model's attempts ignores failures
			assert bool(after["spent"]) == (since_gain >= stall)
			assert not after["spent"] or "did not improve" in after["spent"]


@given(draw.sampled_from([0, 1e-9, 0.5, 2, 14.9, 15, 15.1, 30, 1000]), draw.booleans(), draw.sampled_from([0, 0.29, 0.31, 0.59, 0.61, 0.99, 1.01]),
	draw.sampled_from(["quick", "thorough", "exhaustive"]))
def test_the_search_leaves_time_for_the_final_measurement(seconds, measures_again, share, effort):
	"""The search may use 0.6 of the budget, or a long budget minus 6 s."""
	[got] = ask("budget", effort=effort, evaluations=10, stall=10, measures=True, seconds=seconds, measures_again=measures_again, elapsed=seconds * share, times=[])
	if seconds == 0:  # the effort limits the time of the search
		limit = {"quick": 8, "thorough": 120, "exhaustive": None}[effort]
		assert got["spent"] is None and (got["left"] is None if limit is None else abs(got["left"] - limit - 6 * measures_again) < 0.01)
		return
	search = max(0.6 * seconds, seconds - 6) if measures_again else seconds
	assert abs(got["left"] - max(0, seconds * (1 - share))) < 0.01
	assert abs(got["search_left"] - max(0, search - seconds * share)) < 0.01
	if abs(search - seconds * share) > 0.001:
		assert bool(got["spent"]) == (search < seconds * share) and (not got["spent"] or "time budget" in got["spent"])
