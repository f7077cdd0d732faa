"""Tests the selection of a search's winner (tune/selection.h)."""
import functools

from hypothesis import given, strategies as draw

from oracle import ask, close_interval

TIE = 0.01
# times are multiples of about 0.3%; none is exactly on the tie threshold, where rounding would decide
medians = draw.sampled_from([100.0, 100.25, 100.6, 100.9, 101.2, 101.5, 101.8, 102.1, 105.0])
KERNELS = {"a": (1000, 100), "b": (2000, 100), "c": (2000, 168), None: (0, 32)}  # shared memory and registers


@draw.composite
def item(pick, predicts):
	median, spread, kernel = pick(medians), pick(draw.sampled_from([0, 0, 0.002, 0.02])), pick(draw.sampled_from([*KERNELS]))
	smem, regs = KERNELS[kernel]
	return {"median": median, "low": median * (1 - spread), "high": median * (1 + spread), "smem": smem, "regs": regs,
		"predicted": pick(draw.sampled_from([50.0, 51.5, 60.0])) if predicts else 0, "placement": pick(draw.sampled_from([0, 0, 0.15])),
		"incumbent": False, "planned": pick(draw.booleans()), **({"kernel": kernel} if kernel else {})}


@draw.composite
def items(pick):
	predicts = pick(draw.booleans())
	found = pick(draw.lists(item(predicts), min_size=1, max_size=6))
	for each, order in zip(found, pick(draw.permutations(range(len(found))))):
		each["order"] = order
	incumbent = pick(draw.integers(-1, len(found) - 1))
	if incumbent >= 0:
		found[incumbent]["incumbent"] = True
	return found


def are_tied(a, b):
	half = [TIE / 2 * each["median"] + each["placement"] for each in (a, b)]
	return a["low"] - half[0] <= b["high"] + half[1] and b["low"] - half[1] <= a["high"] + half[0]


def preference(a, b):
	"""Returns whether a comes before b, and the criterion that decides."""
	predicted = a["predicted"] and b["predicted"]
	criteria = [("incumbent", not a["incumbent"], not b["incumbent"]), ("prediction", a["predicted"], b["predicted"]),
		("planned", not a["planned"], not b["planned"]),
		("shared_memory", *((a["smem"], b["smem"]) if predicted else (-a["smem"], -b["smem"]))),
		("registers", a["regs"], b["regs"]), ("order", a["order"], b["order"])]
	name, x, y = next(each for each in criteria if each[1] != each[2])
	return x < y, name


def most_preferred(candidates):
	return min(candidates, key=functools.cmp_to_key(lambda a, b: 0 if a is b else -1 if preference(a, b)[0] else 1))


def kernel_of(found, one):
	return [each for each in found if each is one or ("kernel" in one and each.get("kernel") == one["kernel"])]


@given(items())
def test_the_most_preferred_kernel_and_its_most_preferred_launch_win(found):
	got = ask("selection", items=found)
	fastest = min(found, key=lambda each: each["median"])
	preferred = most_preferred([each for each in found if are_tied(each, fastest)])
	launch = min([preferred] + kernel_of(found, preferred), key=lambda each: each["median"])
	winner = most_preferred([each for each in kernel_of(found, preferred) if are_tied(each, launch)])
	assert found[got["fastest"]]["median"] == fastest["median"]
	assert got["winner"] == found.index(winner)
	for i, each in enumerate(found):
		of_kernel = any(each is other for other in kernel_of(found, preferred))
		assert got["tied"][i] == (are_tied(each, fastest) or each is winner)
		if each is winner:
			assert got["lost"][i] == "winner"
		elif are_tied(each, fastest) and not of_kernel:
			assert got["lost"][i] == preference(preferred, each)[1]
		elif of_kernel and are_tied(each, launch):
			assert got["lost"][i] == preference(winner, each)[1]
		else:
			assert got["lost"][i] == ("untied" if each["median"] < winner["median"] or are_tied(each, winner) else "slower")


@given(items())
def test_what_may_win_is_near_the_fastest_and_beaten_by_nothing_preferred(found):
	fastest = min(found, key=lambda each: each["median"])
	answer = ask("selection", items=found)["may_win"]
	for each, got in zip(found, answer):
		near = are_tied(each, fastest) or each["median"] <= 1.02 * fastest["median"]
		beaten = any(other["median"] * 1.003 <= each["median"] and preference(other, each)[0] and
			(other["median"] <= 1.01 * fastest["median"] or any(other is one for one in kernel_of(found, each))) for other in found if other is not each)
		assert got == (each["median"] == fastest["median"] and each is fastest or near and not beaten)


@given(draw.lists(item(True), min_size=3, max_size=3), draw.lists(draw.floats(50, 51.5), min_size=3, max_size=3))
def test_preference_is_an_order_that_ignores_small_differences_of_predictions(three, predicted):
	for order, (each, us) in enumerate(zip(three, predicted)):
		each.update(order=order, predicted=us)
	before = ask("preference", items=three)
	less = {(i, j) for i in range(3) for j in range(3) if before[3 * i + j]}
	assert all((i, j) in less or (j, i) in less for i in range(3) for j in range(3) if i != j)
	assert not any((j, i) in less for i, j in less)
	assert all((i, k) in less for i, j in less for j2, k in less if j == j2)
	assert all(predicted[i] < 1.0100001 * predicted[j] for i, j in less)


@given(draw.lists(draw.lists(draw.sampled_from([0.99, 1.0, 1.01, 1.02]), min_size=3, max_size=30), min_size=2, max_size=3), draw.sampled_from([1, 0.9]))
def test_rounds_cancel_the_clock(noise, clock):
	times = [{"us": [(100 + k) * each / (clock if i % 4 == 3 else 1) for i, each in enumerate(us)]} for k, us in enumerate(noise)]
	found = [{"median": 100.0 + k, "low": 90.0, "high": 110.0, "predicted": 0, "smem": 0, "regs": 0, "placement": 0, "order": k, "incumbent": False,
		"planned": False} for k, _ in enumerate(noise)]
	fastest = ask("rounds", times=times)["fastest"]
	for each, us, got in zip(found, times, ask("pair_rounds", items=found, times=times)):
		ratio, base = ask("rounds", times=[us, times[fastest]])["ratio"], found[fastest]["median"]
		paired = [base * ratio[name] for name in ("value", "low", "high")]
		assert close_interval(got, paired if min(map(len, noise)) >= 6 else (each["median"], 90, 110))


@given(draw.sampled_from([1, 2, 4]), draw.sampled_from([0.0, 0.25]), draw.sampled_from([-0.0625, 0, 0.0625]))
def test_intervals_that_just_touch_are_tied(scale, placement, apart):
	"""Uses numbers whose sums are exact."""
	common = {"smem": 0, "regs": 32, "predicted": 0, "incumbent": False, "planned": False}
	fastest = {"median": 100 * scale, "low": 100 * scale, "high": 100 * scale, "placement": placement, "order": 0, **common}
	low = 100 * scale + scale / 2 + scale + placement + apart  # half a percent of both medians, plus the noise of code placement
	other = {"median": 200 * scale, "low": low, "high": 200 * scale, "placement": 0, "order": 1, **common}
	assert ask("selection", items=[fastest, other])["tied"] == [True, apart <= 0]
