"""Search in spaces that are small enough for the right answer to be computed (search/*.h)."""
import itertools
import math

from hypothesis import given, settings, strategies as draw

from oracle import ask, close

INFINITE = math.inf


@draw.composite
def views(pick, most_families=2, fails=True):
	"""Draws families of legal configurations in lexicographic order, with predictions; an infinite prediction means that the candidate
	cannot run."""
	families, predicted = [], []
	for _ in range(pick(draw.integers(1, most_families))):
		levels = pick(draw.lists(draw.integers(1, 4), min_size=1, max_size=3))
		everything = [*itertools.product(*map(range, levels))]
		legal = sorted(pick(draw.sets(draw.sampled_from(everything), min_size=1, max_size=20)))
		flags = draw.lists(draw.booleans(), min_size=len(levels), max_size=len(levels))
		families.append({"levels": levels, "ordered": pick(flags), "arguments": pick(flags), "legal": legal})
		times = draw.sampled_from([1.0, 2.0, 2.5, 3.0, 7.0] + [INFINITE] * fails)
		predicted += pick(draw.lists(times, min_size=len(legal), max_size=len(legal)))
	return families, predicted


def as_case(view, seed=0):
	families, predicted = view
	listed = [{"levels": each["levels"], "ordered": [int(flag) for flag in each["ordered"]], "arguments": [int(flag) for flag in each["arguments"]],
		"configurations": [choice for one in each["legal"] for choice in one]} for each in families]
	return {"families": listed, "predicted": predicted, "seed": seed}


def names(view):
	"""Returns (family, configuration) of each candidate."""
	return [(f, one) for f, family in enumerate(view[0]) for one in family["legal"]]


def near_in_one(family, x, p):
	"""Returns the nearest legal values up and down, or all other values of an unordered parameter."""
	others = [one for one in family["legal"] if one != x and all(one[q] == x[q] for q in range(len(x)) if q != p)]
	if not family["ordered"][p]:
		return others
	up, down = [one for one in others if one[p] > x[p]], [one for one in others if one[p] < x[p]]
	return ([min(up, key=lambda one: one[p])] if up else []) + ([max(down, key=lambda one: one[p])] if down else [])


@given(views(), draw.integers(0, 99), draw.booleans(), draw.sampled_from([1, 3, 64]))
def test_neighbours_differ_in_one_or_two_parameters(view, number, pairs, limit):
	families, predicted = view
	listed = names(view)
	candidate = number % len(listed)
	f, x = listed[candidate]
	wanted = {one for p in range(len(x)) for one in near_in_one(families[f], x, p)}
	if pairs:
		wanted |= {one for one in families[f]["legal"] if sum(a != b for a, b in zip(one, x)) == 2 and all(abs(a - b) <= 1 for a, b in zip(one, x))}
	expected = sorted((predicted[i], i) for i, (g, one) in enumerate(listed) if g == f and one in wanted and predicted[i] < INFINITE)
	assert ask("neighbours", **as_case(view), candidate=candidate, pairs=pairs, limit=limit) == [i for _, i in expected[:limit]]


@given(views(), draw.data(), draw.sampled_from([1, 2, 3, 64]))
def test_a_shortlist_has_one_launch_of_each_kernel(view, data, wanted):
	listed, predicted = names(view), view[1]
	candidates = data.draw(draw.permutations(range(len(listed))))
	got = ask("shortlist", **as_case(view), candidates=candidates, wanted=wanted)
	assert got["smallest"] == sorted(candidates, key=lambda i: (predicted[i], i))[:wanted]

	def kernel(i):
		f, x = listed[i]
		return f, *(None if argument else value for value, argument in zip(x, view[0][f]["arguments"]))
	first = list({kernel(i): i for i in reversed(candidates)}.values())
	first = sorted(first, key=candidates.index)[:wanted]
	assert got["moved"] == len(first)
	assert got["all"] == first + [i for i in candidates if i not in first]


def solved(matrix, right):
	"""Returns matrix^-1 right, by elimination."""
	rows = [[*row, value] for row, value in zip(matrix, right)]
	for i, _ in enumerate(rows):
		pivot = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
		rows[i], rows[pivot] = rows[pivot], rows[i]
		for r in range(i + 1, len(rows)):
			factor = rows[r][i] / rows[i][i]
			rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
	found = [0.0] * len(rows)
	for i in reversed(range(len(rows))):
		found[i] = (rows[i][-1] - sum(rows[i][k] * found[k] for k in range(i + 1, len(rows)))) / rows[i][i]
	return found


def noise_of(view):
	"""Returns the noise that is added to a row's own variance. The remaining variance of a measured row is own * noise / (own + noise)."""
	got = ask("gaussian", **as_case(view), rows=[0], values=[1.0], early=9)
	own, left = got["covariances"][0][0], got["variances"][0]
	return own * left / (own - left)


def process(noise, covariances, rows, values):
	"""Returns the means and variances of all candidates, and the deviation of the values. A row without a value gets the mean that the
	earlier rows predict."""
	gram = [[covariances[a][b] + noise * (a == b) for b in rows] for a in rows]

	def weighed(i, count):
		return solved([line[:count] for line in gram[:count]], [covariances[i][row] for row in rows[:count]])
	filled = []
	for row, value in zip(rows, values):
		mean = sum(w * v for w, v in zip(weighed(row, len(filled)), filled))
		filled.append(mean if value is None else value)
	weights = [weighed(i, len(rows)) for i, _ in enumerate(covariances)]
	means = [sum(w * value for w, value in zip(each, filled)) for each in weights]
	variances = [covariances[i][i] - sum(w * covariances[i][row] for w, row in zip(each, rows)) for i, each in enumerate(weights)]
	return means, variances, sum(w * value for w, value in zip(solved(gram, filled), filled))


def alike(a, b):
	return abs(a - b) <= 1e-5 + 1e-5 * abs(b)


@given(views(fails=False), draw.data())
def test_the_gaussian_process_is_the_textbook_one(view, data):
	count = len(view[1])
	rows = data.draw(draw.lists(draw.integers(0, count - 1), min_size=1, max_size=5, unique=True))
	values = [data.draw(draw.sampled_from([-0.5, 0.0, 0.25, 1.0, None])) for _ in rows]
	got = ask("gaussian", **as_case(view), rows=rows, values=values, early=data.draw(draw.integers(0, len(rows))))
	covariances = got["covariances"]
	means, variances, deviation = process(noise_of(view), covariances, rows, values)
	assert alike(got["sum"], deviation)
	for i in range(count):  # a candidate added to the acquisition pool at the start is predicted like one added later
		for at in range(i, len(got["means"]), count):
			assert alike(got["means"][at], means[i]) and alike(got["variances"][at], variances[i])
	listed = names(view)
	i = data.draw(draw.integers(0, count - 1))
	f, x = listed[i]
	for k, (g, y) in enumerate(listed):
		assert close(covariances[i][k], covariances[k][i])
		assert f != g or covariances[i][k] <= covariances[i][i] + 1e-6 or view[1][k] != view[1][i]
		for z, (h, w) in enumerate(listed):  # candidates nearer in an ordered parameter have a larger covariance
			if f == g == h and view[1][k] == view[1][z] and all(abs(a - b) <= abs(a - c) and (o or (a == b) >= (a == c)) for a, b, c, o in zip(x, y, w, view[0][f]["ordered"])):
				assert covariances[i][k] >= covariances[i][z] - 1e-6


def test_values_without_an_order_are_as_far_apart_as_ends():
	def covariances(ordered):
		family = {"levels": [6], "ordered": [ordered], "arguments": [0], "configurations": [*range(6)]}
		return ask("gaussian", families=[family], predicted=[1.0] * 6, seed=1, rows=[0], values=[0.0], early=9)["covariances"]
	ordered, unordered = covariances(1), covariances(0)
	assert ordered[0] == sorted(ordered[0], reverse=True) and ordered[0][0] > ordered[0][5]
	assert all(close(unordered[a][b], ordered[0][0 if a == b else 5]) for a in range(6) for b in range(6))


def improvement(gain, deviation):
	u = gain / deviation
	return deviation * (u * math.erfc(-u / math.sqrt(2)) / 2 + math.exp(-u * u / 2) / math.sqrt(2 * math.pi))


def promises(view, noise, covariances, asked, times):
	"""Returns, for each candidate not yet requested, the expected improvement of the speed times the chance that it runs (head of
	guided.c)."""
	predicted = view[1]
	working = [i for i in asked if times[i] < INFINITE]
	fastest = min((times[i] for i in working), default=INFINITE)
	measured = {i: fastest / times[i] for i in working}
	first = {i: min(predicted) / each for i, each in enumerate(predicted)}
	share = sum(measured[i] * first[i] for i in working) / sum(first[i] ** 2 for i in working) if working else 1
	errors = [measured[i] - share * first[i] if i in measured else None for i in asked]
	means, variances, deviation = process(noise, covariances, asked, errors)
	scale = math.sqrt(deviation / len(working)) if deviation > 0 else 1
	rate = (len(working) + 1) / (len(asked) + 1)
	chances = process(noise, covariances, asked, [(i in measured) - rate for i in asked])[0]
	found = {}
	for i in range(len(predicted)):
		if i not in asked:
			chance = min(1, max(0.02, rate + chances[i])) if len(working) < len(asked) else 1
			found[i] = chance * improvement(share * first[i] + means[i] - 1, scale * math.sqrt(max(1e-12, variances[i])))
	return found


@settings(max_examples=60)
@given(draw.data())
def test_guided_asks_for_the_largest_expected_improvement(data):
	"""Checks the proposals between the first candidates and the first fit of the weights."""
	levels = [4, 3, 3]
	legal = [*itertools.product(*map(range, levels))]
	families = [{"levels": levels, "ordered": data.draw(draw.lists(draw.booleans(), min_size=3, max_size=3)), "arguments": [False] * 3, "legal": legal}]
	# all predictions differ, so that the order of candidates does not decide
	view = families, [1 + each / 40 for each in data.draw(draw.permutations(range(len(legal))))]
	times = [data.draw(draw.sampled_from([1.0, 1.3, 1.7, INFINITE, 2.0, 5.0])) + i / 1000 for i in range(len(legal))]
	asked = ask("asks", **as_case(view), strategy="guided", times=times, most=10)
	covariances, noise = ask("gaussian", **as_case(view), rows=[0], values=[1.0], early=9)["covariances"], noise_of(view)
	assert asked[:8] == sorted(range(len(legal)), key=view[1].__getitem__)[:8]
	for told in (8, 9):
		if sum(times[i] < INFINITE for i in asked[:told]) > 2:  # with fewer values, the only errors are rounding errors
			promised = promises(view, noise, covariances, asked[:told], times)
			best = max(promised.values())
			assert promised[asked[told]] >= best - 1e-4 * best - 1e-9, (told, asked[told], promised)


@given(views(), draw.sampled_from(["guided", "local", "evolution", "model_top", "exhaustive", "random"]), draw.integers(0, 5), draw.data())
def test_every_strategy_asks_for_each_candidate_once(view, strategy, seed, data):
	count = len(view[1])
	times = data.draw(draw.lists(draw.sampled_from([1.0, 2.0, 3.5, INFINITE]), min_size=count, max_size=count))
	asked = ask("asks", **as_case(view, seed), strategy=strategy, times=times, most=3 * count)
	assert sorted(asked) == [i for i, each in enumerate(view[1]) if each < INFINITE]
	if strategy == "model_top":
		assert asked == sorted(asked, key=lambda i: (view[1][i], i))


@settings(max_examples=60)
@given(draw.integers(20, 60), draw.data())
def test_local_goes_on_from_a_better_candidate(count, data):
	"""The best candidate is at the far end of a line, so each gain leads to the next neighbour."""
	family = {"levels": [count], "ordered": [True], "arguments": [False], "legal": [(i,) for i in range(count)]}
	view = [family], [1.0 + i if i < 8 else 1000.0 - i for i in range(count)]
	start = data.draw(draw.integers(2, 7))
	times = [100.0 - i if i >= start else 100.0 + i for i in range(count)]
	asked = ask("asks", **as_case(view), strategy="local", times=times, most=count)
	assert asked[:8] == list(range(8)) and asked[8:] == list(range(8, count))


@settings(max_examples=20)
@given(draw.permutations(range(36)))
def test_failed_candidates_have_no_children(order):
	"""While no candidate has run, evolution requests the next prediction."""
	family = {"levels": [6, 6], "ordered": [True, True], "arguments": [False, False], "legal": [*itertools.product(range(6), repeat=2)]}
	view = [family], [1.0 + each for each in order]
	asked = ask("asks", **as_case(view), strategy="evolution", times=[INFINITE] * 36, most=36)
	assert asked == sorted(range(36), key=view[1].__getitem__)
